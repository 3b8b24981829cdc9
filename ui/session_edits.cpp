// The session's edits of chain and source.
#include "ui/session.hpp"

#include <algorithm>

namespace specklescope {

bool waits_for_file(const ChainStage& stage) {
    const std::vector<ParamDecl>& decls = stage.params.table().decls();
    return !stage.bypassed && std::any_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
        return decl.kind == ParamKind::path && stage.params.visible(decl) &&
               std::get<std::string>(stage.params.get(decl.name)).empty();
    });
}

const Chain& Session::chain() {
    if (!pipeline_ || held_)
        return chain_;
    if (auto newest = pipeline_->chain(); newest != read_) {
        chain_ = *newest;
        read_ = std::move(newest);
    }
    return chain_;
}

std::uint64_t Session::edit(std::size_t stage, const std::string& name, const ParamValue& value) {
    if (!pipeline_ || stage >= chain().stages().size())
        return 0;
    try {
        Chain next = chain();
        next.stages().at(stage).params.set(name, value);
        return set_chain(std::move(next));
    } catch (const UsageError& error) {
        say(Message::Level::error, error.what());
        return 0;
    }
}

std::uint64_t Session::set_chain(Chain chain) {
    if (!pipeline_)
        return 0;
    chain.set_input(chain_.input());
    held_ = std::any_of(chain.stages().begin(), chain.stages().end(), waits_for_file);
    if (held_) {
        chain_ = std::move(chain);
        return 0;
    }
    return pipeline_->set_chain(std::move(chain));
}

void Session::set_channel(const ParamValue& name) {
    if (!pipeline_)
        return;
    settings_.program.set("channel", name);
    const GreyChannel channel = settings_.program.as<ProgramSettings>().channel;
    chain_.set_channel(channel);
    pipeline_->set_channel(channel);
}

const Params& Session::source_params() {
    if (pipeline_)
        source_params_ = pipeline_->source_params();
    return source_params_;
}

void Session::edit_source(const std::string& name, const ParamValue& value) {
    if (!pipeline_)
        return;
    try {
        pipeline_->edit_source(name, value);
    } catch (const UsageError& error) {
        say(Message::Level::error, error.what());
    }
}

} // namespace specklescope
