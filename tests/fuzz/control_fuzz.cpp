// Requests of other programs: whatever comes in is answered by JSON that says ok, or by a sentence; a request
// that is refused changes nothing, and none of them names a file when that is not allowed.
// Parser: config/control/requests.cpp config/control/listing.cpp config/control/editing.cpp
// Parser: config/control/keeping.cpp files/json_object.cpp
#include "config/control/requests.hpp"
#include "tests/fuzz/support.hpp"

#include "analysis/events.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::fuzz {
namespace {

/// Never opened.
class NoSource final : public Source {
public:
    SourceInfo open() override { throw RunError("It is never opened."); }
    Status next(FramePort&) override { return Status::end; }
    void close() override {}
};

/// A run before its first frame, whose edits are kept here.
class Host final : public ControlHost {
public:
    Host() { settings_.chain = chain_of_two(); }
    static Chain chain_of_two() {
        Chain chain;
        chain.add("background");
        chain.add("speckle:radius=2");
        return chain;
    }
    Settings& settings() override { return settings_; }
    Pipeline& pipeline() override { return pipeline_; }
    std::optional<Result> newest(bool) override { return std::nullopt; }
    std::vector<ControlMessage> messages() override { return {}; }
    void open(const std::string&, bool) override { throw UsageError("Nothing is opened here."); }
    bool opened() override { return true; }
    Chain chain() override { return settings_.chain; }
    std::uint64_t edit(std::size_t stage, const std::string& key, const ParamValue& value) override {
        settings_.chain.stages().at(stage).params.set(key, value);
        return ++version_;
    }
    std::uint64_t set_chain(Chain chain) override {
        settings_.chain = std::move(chain);
        return ++version_;
    }
    void edit_source(const std::string&, const ParamValue&) override { ++version_; }
    double um_per_px() override { return um_; }
    void set_um_per_px(double um) override { um_ = um; }
    std::vector<Region> regions() override { return regions_; }
    void set_regions(std::vector<Region> regions) override {
        check_regions(regions);
        regions_ = std::move(regions);
    }
    TraceHistory& traces() override { return traces_; }
    Baseline& baseline() override { return baseline_; }
    EventMark mark(const std::string& label) override { return events_.mark({}, label).mark; }
    std::vector<ControlRecording> recordings() override { return {}; }
    void begin_recording(ControlWhat, const std::string&) override {
        demand(false, "a recording begins without a folder for it");
    }
    std::shared_ptr<Sink> end_recording(ControlWhat) override { return nullptr; }
    void act(Action) override {}
    void quit() override {}

    std::string state() const {
        return to_string(settings_.chain) + to_toml(settings_) + std::to_string(um_) +
               std::to_string(regions_.size()) + std::to_string(version_);
    }

private:
    Settings settings_;
    Pipeline pipeline_{std::make_unique<NoSource>(), chain_of_two(), {}};
    TraceHistory traces_;
    Baseline baseline_;
    EventLog events_;
    std::vector<Region> regions_;
    double um_ = 0;
    std::uint64_t version_ = 0;
};

void check(std::string_view message) {
    Host host;
    const std::string before = host.state();
    std::optional<ControlReply> reply;
    const std::string refusal = sentence_of(message.size(), false, [&] {
        const ControlWork work = read_request(message, host);
        reply = work();
    });
    if (!refusal.empty())
        return demand(host.state() == before, "a request that was refused changed something: " + refusal);
    if (!reply)
        return; // it waits for frames
    const auto json = nlohmann::json::parse(reply->text, nullptr, false);
    demand(json.is_object() && json.value("ok", false), "the answer is none: " + reply->text.substr(0, 200));
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
