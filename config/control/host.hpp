// What requests of other programs work on: a run without a window, or a window.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "config/control/doors.hpp"
#include "config/presets/preset_file.hpp"
#include "config/settings.hpp"
#include "recording/recorder.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

struct ControlMessage {
    Message message;
    SteadyClock::time_point when;
};

/// Everything is called on the main thread, between two of its rounds, and waits for nothing.
class ControlHost {
public:
    virtual ~ControlHost() = default;

    virtual Settings& settings() = 0;
    /// Throws RunError where no source is open.
    virtual Pipeline& pipeline() = 0;
    /// `pixels`: with those on the host, or none before they are there.
    virtual std::optional<Result> newest(bool pixels) = 0;
    virtual std::vector<ControlMessage> messages() = 0;
    virtual Doors doors() = 0;

    /// Begins to open another source, in place of the one that runs, with the settings that a recording was
    /// made with or as they are. Throws UsageError or RunError.
    virtual void open(const std::string& source, bool recorded) = 0;
    /// False while that takes. Throws what it failed with; then the one before runs on.
    virtual bool opened() = 0;

    // Edits; what they return is the version that results made with them have.
    /// As it was asked for last.
    virtual Chain chain() = 0;
    virtual std::uint64_t edit(std::size_t stage, const NamedValues& values) = 0;
    virtual std::uint64_t set_chain(Chain chain) = 0;
    /// Its chain, and what it sets of the view.
    virtual std::uint64_t take_preset(const PresetTaken& taken) = 0;
    /// Changes what --view sets.
    virtual void set_view(const Params& view) = 0;
    virtual void edit_source(const std::string& key, const ParamValue& value) = 0;
    virtual double um_per_px() = 0; ///< of a pixel of the results; 0: unknown
    virtual void set_um_per_px(double um) = 0;

    virtual std::vector<Region> regions() = 0;
    /// Throws UsageError.
    virtual void set_regions(std::vector<Region> regions) = 0;
    virtual TraceHistory& traces() = 0;
    virtual Baseline& baseline() = 0;
    /// At the newest frame. Throws UsageError.
    virtual EventMark mark(const std::string& label) = 0;
    virtual const EventLog& events() = 0;
    /// Of one that there is.
    virtual void relabel(std::uint64_t event, const std::string& label) = 0;
    virtual void unmark(std::uint64_t event) = 0;

    virtual std::vector<Recording> recordings() = 0;
    /// Throws UsageError or RunError.
    virtual void begin_recording(const OutputKind& kind, const std::string& path) = 0;
    /// Beside the main thread; what is being finished, or has ended since it was asked for last. Null: there
    /// is none.
    virtual std::shared_ptr<Sink> end_recording(const OutputKind& kind) = 0;

    /// What a key of the window does; files that it is about are in this folder. Throws UsageError where that
    /// is not possible, and without a window.
    virtual void act(Action action, const std::string& folder) = 0;
    virtual void quit() = 0;
};

} // namespace specklescope
