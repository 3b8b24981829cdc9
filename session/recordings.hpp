// Recordings, snapshots and reports of a session. They begin on the main thread; background threads finish
// their files.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "config/outputs.hpp"
#include "recording/pretrigger/pre_trigger.hpp"
#include "session/state.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// Text about a finished recording: "Saved 10 frames (0.4 s) to a.tiff."
std::string saved_text(const SinkStatus& status);
/// Message for a closed recording.
Message end_of_recording(const SinkStatus& status);
/// The same as a note; failures are in the log already, and with `logs_itself` the end of a recorder too.
Note end_note(const SinkStatus& status, bool logs_itself);

class Recordings {
public:
    Recordings(SessionState& state, std::shared_ptr<LiveLook> look) : state_(state), look_(std::move(look)) {}

    /// Adds the outputs of the settings to a pipeline before its start. Without a user, --pre-trigger delays
    /// recordings of raw frames until trigger(). Throws UsageError or RunError.
    void add(Pipeline& pipeline, const Settings& settings);
    /// Begins the recordings of raw frames that were held back, or ends them.
    void trigger();
    /// `of`: a named output of the chain; "": the last image. Throws UsageError or RunError.
    void begin(const OutputKind& kind, const std::string& path, const std::string& of = {});
    /// Begins a recording with a name made from the settings, or ends it. A failure becomes a message.
    void toggle(const OutputKind& kind);
    /// Named output of a recording to find; nothing: any.
    using Of = std::optional<std::string>;
    /// Ends a running recording. Returns its sink, which closes in a background thread; null: none runs.
    std::shared_ptr<Sink> end(const OutputKind& kind, const Of& of = {});
    /// The newest recording that ended by itself and was not returned before; null: none.
    std::shared_ptr<Sink> ended(const OutputKind& kind, const Of& of = {});
    void end_all();
    /// Finishes recordings that ended by themselves, and keeps frames for --pre-trigger.
    void poll();
    /// Forgets frames kept from a pipeline that has stopped.
    void drop_kept();

    const Recording* running(const OutputKind& kind, const Of& of = {}) const; ///< null: none
    const Recording* running(RecordWhat what) const { return running(output_kind(what)); }
    std::vector<Recording> running() const;
    /// Recordings in the order of their start. With a user, without those whose end was reported.
    const std::vector<Recording>& all() const { return all_; }
    void mark(const EventMark& event) const;

    /// True if every recording of frames in the settings is complete or has failed, and at least one is
    /// complete.
    bool complete() const;
    /// True if every output of the settings has failed or is complete.
    bool over() const;
    /// True if no recording of the settings waits for its writer.
    bool drained() const;
    bool triggered() const { return triggered_; }
    bool waits_for_trigger() const { return !held_back_.outputs.empty(); }

    /// Frames that the next recording of raw frames will begin with; nothing: none are kept.
    std::optional<PreTrigger::Fill> kept() const {
        return before_ ? std::optional(before_->fill()) : std::nullopt;
    }

    void snapshot(Result result);
    /// PDF, PNG and CSV of the result in its own unit, with regions, traces, baseline and events.
    void report(Result result, TraceHistory& traces, const Baseline& baseline, const EventLog& events);

    /// Name for a new file of the user, in the folder and by the pattern of the settings; `what`: "traces".
    /// Throws UsageError for an unknown place in the pattern.
    std::string new_path(const std::string& what, const std::string& ending);
    /// Writes a file with such a name in the background. `write` returns the message and may throw.
    void save(const std::string& what, const std::string& ending,
              std::function<std::string(const std::string& path)> write);

    // Choices of a user.
    std::string folder = ".";
    int raw_format = 0;       ///< index in endings(RecordWhat::raw)
    int processed_format = 0; ///< index in endings(RecordWhat::processed)
    int screen_format = 0;    ///< index in endings(RecordWhat::screen)
    /// Extensions of the formats that support it; for the screen only video formats.
    static const std::vector<std::string>& endings(RecordWhat what);
    static constexpr const char* kNoRegions =
        "There are no regions whose traces could be recorded; draw one first.";

private:
    enum class End : std::uint8_t { none, by_itself, reported };
    void began(Recording recording);
    void finish(std::size_t place, End end);
    void drop_ended(const OutputKind& kind, const std::string& of);
    void keep_before();

    SessionState& state_;
    const std::shared_ptr<LiveLook> look_;
    std::vector<Recording> all_;
    std::vector<End> ends_;        ///< of all_
    std::vector<Recording> given_; ///< begun by the settings
    Settings held_back_;           ///< its outputs wait for trigger()
    bool triggered_ = false;
    std::shared_ptr<PreTrigger> before_; ///< a sink of before_of_; null: no frames are kept
    std::shared_ptr<Pipeline> before_of_;
    double before_refused_ = 0; ///< s, a request that failed
    std::size_t named_ = 0;     ///< files of this session, for {count}
};

} // namespace specklescope
