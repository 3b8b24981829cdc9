// Host of requests without a run: edits are stored, and there are no frames.
#pragma once

#include "analysis/events.hpp"
#include "base/error.hpp"
#include "config/control/host.hpp"
#include "pipeline/chain.hpp"
#include "pipeline/pipeline.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::test {

/// Never opened.
class NoSource final : public Source {
public:
    SourceInfo open() override { throw RunError("It is never opened."); }
    Status next(FramePort&) override { return Status::end; }
    void close() override {}
};

/// A run before its first frame, which stores edits.
class IdleHost : public ControlHost {
public:
    IdleHost() { settings_.chain = chain_of_two(); }
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
    Doors doors() override { return {}; }
    void open(const std::string&, bool) override { throw UsageError("Nothing is opened here."); }
    bool opened() override { return true; }
    Chain chain() override { return settings_.chain; }
    std::uint64_t edit(std::size_t stage, const NamedValues& values) override {
        for (const auto& [key, value] : values)
            settings_.chain.stages().at(stage).params.set(key, value);
        return ++version_;
    }
    std::uint64_t set_chain(Chain chain) override {
        settings_.chain = std::move(chain);
        return ++version_;
    }
    std::uint64_t take_preset(const PresetTaken& taken) override {
        settings_.view = taken.settings.view;
        return set_chain(taken.settings.chain);
    }
    void set_view(const Params& view) override { settings_.view = view; }
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
    const EventLog& events() override { return events_; }
    void relabel(std::uint64_t event, const std::string& label) override {
        (void)events_.rename(event, label);
    }
    void unmark(std::uint64_t event) override { (void)events_.remove(event); }
    std::vector<Recording> recordings() override { return {}; }
    void begin_recording(const OutputKind&, const std::string&) override {}
    std::shared_ptr<Sink> end_recording(const OutputKind&) override { return nullptr; }
    void act(Action, const std::string&) override {}
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

} // namespace specklescope::test
