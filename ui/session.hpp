// What the window works on: the pipeline with its source, edits, recordings, snapshots and messages. No
// drawing here. Everything that may take long (opening a camera, finishing a file, writing a picture) runs
// beside the main thread.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/baseline_image.hpp"
#include "analysis/events.hpp"
#include "analysis/region_editor.hpp"
#include "config/control/doors.hpp"
#include "config/settings.hpp"
#include "recording/pretrigger/pre_trigger.hpp"
#include "recording/recorder.hpp"
#include "ui/recording_ends.hpp"

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

struct Note {
    Message::Level level = Message::Level::info;
    std::string text;
    SteadyClock::time_point when;
    bool logged = false; ///< somebody has written it to the log already
    bool failed_recording = false;
};

/// Now.
Note note(Message::Level level, std::string text);

/// A file is chosen as the origin of something, and not named yet.
bool waits_for_file(const ChainStage& stage);

class Session { // NOLINT(clang-analyzer-optin.performance.Padding): there is one
public:
    explicit Session(Settings settings) : settings_(std::move(settings)) {}
    ~Session() { close(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Opens the first source. Throws UsageError or RunError.
    void start(void (*notify)());
    /// Stops the pipeline, finishes every file and waits for all work beside. Idempotent.
    void close() noexcept;
    /// Once per drawn frame: takes messages, finished work and failed recorders. True if there is something
    /// new.
    bool poll();

    Settings& settings() { return settings_; }
    const Settings& settings() const { return settings_; }
    ViewSettings& view() { return settings_.view.as<ViewSettings>(); }
    Pipeline* pipeline() const { return pipeline_.get(); }
    /// Of the pipeline, after close() of the one that was; none before start().
    std::optional<StatsSnapshot> stats() const { return pipeline_ ? pipeline_->stats() : last_stats_; }
    bool recording_failed() const { return recording_failed_; } ///< one at least, by itself
    /// Why recordings failed, each until the user has acknowledged it.
    std::deque<std::string> failed_recordings;

    /// Opens another source; the present one runs on until it is there. The same source again is closed
    /// first, and started again if it cannot be opened.
    /// A recording of this program brings the settings that it was made with, unless it is to be opened
    /// `as_set`.
    void open(const SourceArgument& text, bool as_set = false);
    /// What has ended runs again from its beginning, with the same parameters.
    void play_again();
    bool opening() const { return opening_.valid(); }
    const std::string& opening_text() const { return opening_text_; }
    /// What the opening is busy with, where that takes long.
    std::string opening_work() const;
    static constexpr const char* kOpening = "Another source is being opened; wait until it is there.";
    /// Why the last open failed; the window shows it until it is cleared.
    std::optional<std::string>& open_error() { return open_error_; }
    /// The same for somebody else to tell; null: it did not fail.
    std::exception_ptr take_open_failure();
    /// The one that runs or was open lately, as it was opened, where the text is how it is shown: its secrets
    /// are not in there.
    std::optional<SourceArgument> known_source(const std::string& shown) const;
    const std::deque<SourceArgument>& recent() const { return recent_; }
    /// The live source is gone, or being opened again: what is shown is the last that it gave.
    bool source_lost() const;
    std::uint64_t generation() const { return generation_; } ///< counts the pipelines
    bool restored() const { return restored_; } ///< what was opened last brought its own colours and range

    /// Shown by the controls. While a stage waits for the name of its file it differs from running_chain().
    const Chain& chain();
    /// What takes effect.
    Chain running_chain() { return pipeline_ ? *pipeline_->chain() : chain_; }
    /// Returns the version that results made with it have; 0: nothing was sent.
    std::uint64_t edit(std::size_t stage, const std::string& name, const ParamValue& value);
    /// Stages added, taken out or in another order. Returns as edit().
    std::uint64_t set_chain(Chain chain);
    /// What grey stages get of colour, by its name.
    void set_channel(const ParamValue& name);
    const Params& source_params();
    void edit_source(const std::string& name, const ParamValue& value);

    /// µm a side of a pixel of the results of this chain; 0: unknown.
    double um_per_px(const Chain& of) const;
    /// Of the results as the chain is now; 0: as the source says. Recordings that run keep what they began
    /// with.
    void set_um_per_px(double um);

    /// What is drawn now: movies of the screen show it.
    void set_look(ScreenLook look) { look_->set(std::move(look)); }
    /// The one that runs; null: none.
    const Recording* recording(const OutputKind& kind) const;
    const Recording* recording(RecordWhat what) const { return recording(output_kind(what)); }
    const std::vector<Recording>& recordings() const { return recordings_; }
    void toggle_record(RecordWhat what);
    /// Throws UsageError or RunError.
    void record_to(const OutputKind& kind, const std::string& path);
    /// What is being finished beside, null: none ran.
    std::shared_ptr<Sink> end_recording(const OutputKind& kind);
    EndedRecordings ended; ///< by themselves, or with their source
    /// The table of the regions, a row for each and every frame.
    const Recording* recorded_traces() const { return recording(output_kind("traces")); }
    static constexpr const char* kNoRegions =
        "There are no regions whose traces could be recorded; draw one first.";
    void toggle_traces();
    /// What a recording of raw frames would begin with; nothing: none are kept.
    std::optional<PreTrigger::Fill> kept_before() const {
        return before_ ? std::optional(before_->fill()) : std::nullopt;
    }
    /// All of them; their files are finished beside.
    void end_recordings();
    void snapshot(Result result);
    /// PDF, PNG and CSV of the result, in absolute units also where its change is shown, with regions,
    /// traces, baseline and events.
    void report(Result result);

    /// What is drawn; poll() hands what has changed to the pipeline, and so the last of several changes
    /// between two drawn frames.
    RegionEditor regions;
    std::string regions_path; ///< the file that they were last read from or written to
    /// From a file in their place, which can be undone. Throws UsageError or RunError; then nothing changes.
    void load_regions_file(const std::string& path);
    /// Throws RunError.
    void save_regions_file(const std::string& path);

    // Of the regions, over all sources of the session.
    TraceHistory& traces() { return *traces_; }
    /// Added to every pipeline of the window, from its first frame on.
    struct Listeners {
        std::shared_ptr<TraceHistory> traces;
        Doors doors;
        void join(Pipeline& pipeline) const;
    };
    Listeners listeners() const { return {traces_, doors}; }
    Doors doors;
    bool traces_wanted() const { return !regions.regions().empty(); }
    Baseline baseline;
    /// The quantity that a fixed range was brought for, with a chain that gives it; the window clears it once
    /// there are such results.
    std::string range_for;
    /// F₀ of every pixel over the next seconds of results (view().baseline_s): begins it, or ends it with
    /// what there is.
    void take_baseline_image();
    /// 0…1 while one is being taken.
    std::optional<double> baseline_image_progress() const;
    const std::shared_ptr<const BaselineImage>& baseline_image() const { return baseline_image_; }
    /// The command line asks for a baseline: the window begins with the change against it.
    bool baseline_asked() const { return baseline_asked_; }
    /// F₀ of the regions as the picture of the command line has it, until another is taken.
    void compare_regions(const Result& shown);
    const EventLog& events() const { return events_; }
    /// At the newest frame; traces and recordings that run are told.
    void mark_event(const std::string& label = "");
    /// The same. Throws UsageError.
    EventMark add_event(const std::string& label);
    void rename_event(std::uint64_t number, const std::string& label);
    void remove_event(std::uint64_t number);

    void say(Message::Level level, std::string text);
    const std::deque<Note>& notes() const { return notes_; }

    // Choices of the record section.
    std::string folder = ".";
    int raw_format = 0;       ///< into endings(RecordWhat::raw)
    int processed_format = 0; ///< into endings(RecordWhat::processed)
    int screen_format = 0;    ///< into endings(RecordWhat::screen)
    /// Of the formats that hold a stream of this; of the screen those of films.
    static const std::vector<std::string>& endings(RecordWhat what);

private:
    struct Opened {
        std::shared_ptr<Pipeline> pipeline;
        Settings settings;
        std::vector<std::string> remarks{}; ///< of a recording: what it brought
        bool restored = false;              ///< it brought colours and, where it has some, regions
    };
    void open_beside(std::function<Opened()> begin);
    void adopt(Opened opened);
    void restore(const Settings& recorded);
    void poll_opening();
    void poll_recordings();
    void poll_pre_trigger();
    void send_regions();
    void tell_scale(bool kept);
    void poll_baseline_image();
    void tell_metrics();
    void drop_baseline_image(); ///< F₀ is of one source
    void take_baseline_ahead();
    void tell_given_scale();
    void show_baseline_ahead();
    void finish(const Recording& recording);
    void toggle(const OutputKind& kind, const std::string& ending);
    void remember_recent(const SourceArgument& text);
    /// Throws UsageError for a name with an unknown place.
    std::string new_path(const std::string& what, const std::string& ending);
    void tell_recordings(const EventMark& event) const;

    Settings settings_;
    std::shared_ptr<Pipeline> pipeline_;
    void (*notify_)() = nullptr;
    std::optional<StatsSnapshot> last_stats_;
    std::atomic<bool> recording_failed_ = false; ///< told by the work beside
    std::uint64_t generation_ = 0;
    bool restored_ = false;
    bool baseline_asked_ = false;
    std::uint64_t regions_sent_ = 0,
                  regions_opening_ = 0; ///< revisions: the pipeline's, and of one that opens
    std::future<Opened> opening_;
    std::string opening_text_;
    struct OpeningWork { ///< shared with the thread that opens
        std::mutex mutex;
        std::string text;
        std::atomic<bool> cancelled{false};
    };
    std::shared_ptr<OpeningWork> opening_work_;
    std::optional<std::string> open_error_;
    std::exception_ptr open_failure_; ///< the same
    std::deque<SourceArgument> recent_;
    std::vector<Recording> recordings_;
    std::shared_ptr<PreTrigger> before_; ///< in before_of_; null: none
    std::shared_ptr<Pipeline> before_of_;
    double before_refused_ = 0; ///< s that were asked for in vain
    const std::shared_ptr<LiveLook> look_ = std::make_shared<LiveLook>(look_of(view()));
    std::size_t named_ = 0; ///< files of this session, for {count}
    const std::shared_ptr<TraceHistory> traces_ = std::make_shared<TraceHistory>();
    SteadyClock::time_point metrics_told_{};
    std::shared_ptr<BaselineCollector> collector_; ///< while a baseline is taken, in collected_by_
    std::shared_ptr<Pipeline> collected_by_;
    std::shared_ptr<const BaselineImage> baseline_image_;
    std::shared_ptr<const PlacedRegions> compared_; ///< by compare_regions()
    EventLog events_;
    std::vector<std::future<Note>> work_;
    std::deque<Note> notes_;
    Chain chain_;
    std::shared_ptr<const Chain> read_; ///< the pipeline's, of which chain_ is a copy
    bool held_ = false;                 ///< chain_ waits for a file and was not sent
    Params source_params_;
};

} // namespace specklescope
