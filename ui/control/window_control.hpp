// Requests to the window.
#pragma once

#include "config/control/requests.hpp"

#include <memory>

namespace specklescope {

class App;
class Session;

class WindowControl final : private ControlHost {
public:
    static bool wanted(const Settings& settings); ///< --control
    /// Throws RunError.
    explicit WindowControl(App& app);
    /// Once per drawn frame, while it is being made: does what is asked for.
    void poll() { server_->poll(); }
    ControlCounts counts() const { return server_->counts(); }

private:
    Session& session();
    Settings& settings() override;
    Pipeline& pipeline() override;
    std::optional<Result> newest(bool pixels) override;
    std::vector<ControlMessage> messages() override;
    Doors doors() override;
    void open(const std::string& source, bool recorded) override;
    bool opened() override;
    Chain chain() override;
    std::uint64_t edit(std::size_t stage, const NamedValues& values) override;
    std::uint64_t set_chain(Chain chain) override;
    std::uint64_t take_preset(const PresetTaken& taken) override;
    void set_view(const Params& view) override { settings().view = view; }
    void edit_source(const std::string& key, const ParamValue& value) override;
    double um_per_px() override;
    void set_um_per_px(double um) override;
    std::vector<Region> regions() override;
    void set_regions(std::vector<Region> regions) override;
    TraceHistory& traces() override;
    Baseline& baseline() override;
    EventMark mark(const std::string& label) override;
    const EventLog& events() override;
    void relabel(std::uint64_t event, const std::string& label) override;
    void unmark(std::uint64_t event) override;
    std::vector<Recording> recordings() override;
    void begin_recording(const OutputKind& kind, const std::string& path) override;
    std::shared_ptr<Sink> end_recording(const OutputKind& kind) override;
    void act(Action action, const std::string& folder) override;
    void quit() override;

    App& app_;
    std::unique_ptr<ControlServer> server_;
};

} // namespace specklescope
