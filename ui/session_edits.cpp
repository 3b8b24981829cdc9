// The session's edits of chain and source: asked of the pipeline, shown at once, read again when it has them.
#include "ui/session.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using namespace std::chrono_literals;

constexpr auto kSettle = 400ms; ///< an edit has reached the pipeline, or was refused, by then
constexpr auto kReadAgain = 150ms;

} // namespace

bool waits_for_file(const ChainStage& stage) {
    const std::vector<ParamDecl>& decls = stage.params.table().decls();
    return !stage.bypassed && std::any_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
        return decl.kind == ParamKind::path && stage.params.visible(decl) &&
               std::get<std::string>(stage.params.get(decl.name)).empty();
    });
}

const Chain& Session::chain() {
    const auto now = SteadyClock::now();
    if (pipeline_ && !held_ && now - chain_asked_ > kSettle && now - chain_read_ > kReadAgain) {
        take_chain();
        chain_read_ = now;
    }
    return chain_;
}

void Session::take_chain() {
    ChainInEffect runs = pipeline_->chain_in_effect();
    chain_ = std::move(runs.chain);
    stages_of_ = runs.stages_of;
}

std::uint64_t Session::edit(std::size_t stage, const std::string& name, const ParamValue& value) {
    if (!pipeline_ || stage >= chain_.stages().size())
        return 0;
    try {
        chain_.stages()[stage].params.set(name, value);
        const std::vector<ChainStage>& stages = chain_.stages();
        if (held_ || std::any_of(stages.begin(), stages.end(), waits_for_file))
            return set_chain(chain_);
        chain_asked_ = SteadyClock::now();
        return pipeline_->edit(stage, name, value, stages_of_);
    } catch (const UsageError& error) {
        say(Message::Level::error, error.what());
        return 0;
    }
}

std::uint64_t Session::set_chain(Chain chain) {
    if (!pipeline_)
        return 0;
    chain.set_input(chain_.input());
    chain_ = std::move(chain);
    held_ = std::any_of(chain_.stages().begin(), chain_.stages().end(), waits_for_file);
    if (held_)
        return 0;
    chain_asked_ = SteadyClock::now();
    stages_of_ = pipeline_->set_chain(chain_);
    return stages_of_;
}

void Session::set_channel(const ParamValue& name) {
    if (!pipeline_)
        return;
    settings_.program.set("channel", name);
    const GreyChannel channel = settings_.program.as<ProgramSettings>().channel;
    (void)chain(); // as it runs
    chain_.set_channel(channel);
    pipeline_->set_channel(channel);
    chain_asked_ = SteadyClock::now();
}

const Params& Session::source_params() {
    const auto now = SteadyClock::now();
    if (pipeline_ && now - source_asked_ > kSettle && now - source_read_ > kReadAgain) {
        source_params_ = pipeline_->source_params();
        source_read_ = now;
    }
    return source_params_;
}

void Session::edit_source(const std::string& name, const ParamValue& value) {
    if (!pipeline_)
        return;
    try {
        source_params_.set(name, value);
        pipeline_->edit_source(name, value);
        source_asked_ = SteadyClock::now();
    } catch (const UsageError& error) {
        say(Message::Level::error, error.what());
    }
}

} // namespace specklescope
