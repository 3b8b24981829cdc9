// Requests to a run without a window.
#pragma once

#include "config/control/requests.hpp"
#include "ui/recording_ends.hpp"

#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

class RunControl final : private ControlHost {
public:
    static bool wanted(const Settings& settings); ///< --control

    /// Of this pipeline, which has not been started. Throws RunError.
    /// `others`: the doors beside this one; `look`: of its movies of the screen and its outlets.
    RunControl(const Settings& settings, Pipeline& pipeline, Doors others, std::shared_ptr<LiveLook> look);
    /// Takes the recordings that run from the beginning.
    void adopt(const std::vector<Recording>& recordings) { recordings_ = recordings; }

    /// Until there is something to poll(), at most so long.
    void wait(std::chrono::milliseconds most) { server_->wait(most); }
    /// Carries out requests. Returns the recordings that they have begun.
    std::vector<Recording> poll(const Result& newest);
    bool quits() const { return quits_; }
    const Params& view() const { return settings_.view; } ///< as it was set last
    /// Nothing is answered any more; behind the end of the pipeline.
    void finish();
    std::string address() const { return server_->address(); }
    Doors doors() override;

private:
    Settings& settings() override { return settings_; }
    Pipeline& pipeline() override { return pipeline_; }
    std::optional<Result> newest(bool pixels) override;
    std::vector<ControlMessage> messages() override { return {messages_.begin(), messages_.end()}; }
    [[noreturn]] void open(const std::string& source, bool recorded) override;
    bool opened() override { return true; }
    Chain chain() override;
    std::uint64_t edit(std::size_t stage, const NamedValues& values) override;
    std::uint64_t set_chain(Chain chain) override;
    std::uint64_t take_preset(const PresetTaken& taken) override;
    void set_view(const Params& view) override;
    void edit_source(const std::string& key, const ParamValue& value) override;
    double um_per_px() override;
    void set_um_per_px(double um) override;
    std::vector<Region> regions() override;
    void set_regions(std::vector<Region> regions) override;
    TraceHistory& traces() override { return *traces_; }
    Baseline& baseline() override { return baseline_; }
    EventMark mark(const std::string& label) override;
    const EventLog& events() override { return events_; }
    void relabel(std::uint64_t event, const std::string& label) override;
    void unmark(std::uint64_t event) override;
    std::vector<Recording> recordings() override { return recordings_; }
    void begin_recording(const OutputKind& kind, const std::string& path) override;
    std::shared_ptr<Sink> end_recording(const OutputKind& kind) override;
    [[noreturn]] void act(Action action, const std::string& folder) override;
    void quit() override { quits_ = true; }

    void tell(const EventMark& event) const;
    void take_messages();
    void look_at_recordings();
    void finish_recording(const std::shared_ptr<Sink>& sink);

    Settings settings_;
    Pipeline& pipeline_;
    const Doors others_;
    const std::shared_ptr<LiveLook> look_;
    const std::shared_ptr<TraceHistory> traces_ = std::make_shared<TraceHistory>();
    Baseline baseline_;
    EventLog events_;
    std::deque<ControlMessage> messages_;
    Result newest_;
    std::vector<Recording> recordings_;
    EndedRecordings ended_; ///< by themselves
    std::vector<Recording> begun_;
    std::vector<std::future<Message>> ending_;
    bool quits_ = false;
    std::unique_ptr<ControlServer> server_; ///< the last: its thread ends first
};

} // namespace specklescope
