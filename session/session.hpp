// A run of the program: one source at a time with its pipeline, edits, regions, traces, outputs, baseline,
// events and messages. The window draws a session, `run` waits for it, and requests of other programs change
// it. All calls are for one thread; opening a source, finishing files and writing images run in background
// threads.
#pragma once

#include "config/presets/preset_file.hpp"
#include "session/alarms.hpp"
#include "session/comparison.hpp"
#include "session/doors.hpp"
#include "session/exports.hpp"
#include "session/freshness.hpp"
#include "session/picture_baseline.hpp"
#include "session/recordings.hpp"
#include "session/source_check.hpp"
#include "session/undo.hpp"
#include "session/whole_film.hpp"

#include <exception>
#include <future>

namespace specklescope {

/// True if a stage needs a file that has not been chosen yet.
bool waits_for_file(const ChainStage& stage);

class Session { // NOLINT(clang-analyzer-optin.performance.Padding): there is one
public:
    explicit Session(Settings settings, bool interactive = true);
    ~Session() { close(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Opens the source and the outputs of the settings. `wake` (null: none) is called from any thread when
    /// poll() has something to do. `host_results`: results reach the mailbox with pixels on the host. Throws
    /// UsageError or RunError.
    void start(void (*wake)(), bool host_results = true);
    /// Works on a pipeline that was made elsewhere.
    void adopt(std::shared_ptr<Pipeline> pipeline);
    /// Stops the pipeline, which closes its files, and waits for background work. Statistics stay readable.
    void stop() noexcept;
    /// Ends recordings, stops and forgets the pipeline. Idempotent.
    void close() noexcept;
    /// Call regularly. Processes messages and finished work, and applies edited regions. True if there is
    /// news.
    bool poll();

    Settings& settings() { return state_.settings; }
    const Settings& settings() const { return state_.settings; }
    ViewSettings& view() { return state_.view(); }
    Pipeline* pipeline() const { return state_.pipeline.get(); } ///< null: before start(), after close()
    /// Counters of the present or closed pipeline; nothing before start().
    std::optional<StatsSnapshot> stats() const;
    /// Settings with the chain as it is edited now, as files of settings hold it.
    Settings settings_now();
    bool interactive() const { return state_.interactive; }
    /// True if the source has ended and all frames are processed, or the outputs of the settings are
    /// complete. `listened`: other programs may still request results.
    bool over(bool listened) const;
    bool failed() const; ///< the source, or the computation of a frame

    /// Opens another source; the current one continues until the new one is open. The current source itself
    /// is closed first, and started again if it cannot be opened. A recording of this program applies its
    /// settings unless `as_set`.
    void open(const SourceArgument& text, bool as_set = false);
    /// Runs a source that has ended again from its beginning.
    void play_again();
    bool opening() const { return opening_.result.valid(); }
    const std::string& opening_text() const { return opening_.text; }
    std::string opening_work() const { return opening_.work_text(); }
    static constexpr const char* kOpening = "Another source is being opened; wait until it is there.";
    struct Waiting {
        std::string reason; ///< why the source cannot be opened yet
        SteadyClock::time_point next;
    };
    /// State of waiting for a camera or stream of the settings that cannot be opened yet; it is tried
    /// repeatedly, and there is no pipeline. Nothing: not waiting.
    const std::optional<Waiting>& waiting() const { return opening_.waiting; }
    /// Why the last open() failed, until it is cleared.
    std::optional<std::string>& open_error() { return opening_.error; }
    /// The same as an exception, which clears it; null: it did not fail.
    std::exception_ptr take_open_failure();
    /// The current or a recent source, found by its displayed text (without secrets).
    std::optional<SourceArgument> known_source(const std::string& shown) const;
    const std::deque<SourceArgument>& recent() const { return recent_; }
    const Freshness& freshness() const { return freshness_.now(); }    ///< as of the last poll()
    const std::vector<Alarm>& alarms() const { return alarms_.now(); } ///< likewise
    void acknowledge_alarms();
    std::uint64_t generation() const { return opening_.generation; } ///< number of opened pipelines
    /// The last opened source brought its own colours and range.
    bool restored() const { return opening_.restored; }

    /// Chain as the user edits it. While a stage waits for the name of its file, running_chain() differs.
    const Chain& chain();
    Chain running_chain() {
        return state_.pipeline && edited_.compared.empty() ? *state_.pipeline->chain() : edited_.chain;
    }
    /// Applies a chain. Returns the version of results made with it. Throws UsageError or RunError.
    std::uint64_t apply(Chain chain);
    /// The same for a user: a stage may wait for its file name, and an error becomes a message. Returns 0 if
    /// nothing was applied.
    std::uint64_t set_chain(Chain chain);
    std::uint64_t edit(std::size_t stage, const std::string& name, const ParamValue& value);
    /// Applies chain, range and colours of a preset. `by_user`: as in set_chain(), otherwise as in apply().
    std::uint64_t take_preset(const PresetTaken& taken, bool by_user);
    /// Sets the channel of colour images that grey stages get, by its name.
    void set_channel(const ParamValue& name);
    /// Displays a named output of the chain; "": the last image. Throws UsageError.
    void show_output(const std::string& name);
    const Params& source_params();
    /// An error becomes a message.
    void edit_source(const std::string& name, const ParamValue& value);
    void set_view(const Params& view);
    /// Sets the view that recordings of the screen show.
    void set_look(ScreenLook look) { look_->set(std::move(look)); }

    /// Side of a pixel of the results of this chain, µm; 0: unknown.
    double um_per_px(const Chain& of) const;
    /// Sets the side of a pixel of the current results in µm; 0: from the source. Active recordings keep
    /// their scale.
    void set_um_per_px(double um);

    RegionEditor& regions = state_.regions;
    std::string regions_path; ///< file that the regions were last read from or written to
    void load_regions_file(const std::string& path); ///< throws UsageError or RunError
    void save_regions_file(const std::string& path); ///< throws RunError
    void apply_regions();                            ///< now, not at the next poll()
    bool traces_wanted() const { return !regions.regions().empty(); }

    /// Adds an entry to history() if anything that undo restores differs from its last entry. Call regularly
    /// while no edit is in progress (a slider is held, a shape is dragged).
    void record_edits();
    /// Restores the state before or after the present one; a message names the edit.
    void undo();
    void redo();
    bool go_to(std::size_t entry); ///< of history(); false, with a message, if it cannot be restored
    const UndoHistory& history() const { return history_; }
    /// Shows the result of the chain before its last edit; controls, range and regions stay. Again, or
    /// another edit of the chain, returns. A message if there is no such chain.
    void compare_before();
    /// Edit that is left out; empty: not comparing.
    const std::string& compared() const { return edited_.compared; }
    /// A fixed range was released because the quantity changed: belongs to the last edit.
    void range_released();

    /// Marks the newest frame in traces, recordings and published results. Throws UsageError.
    EventMark add_event(const std::string& label);
    void mark_event(const std::string& label = ""); ///< the same with a message for the user
    void rename_event(std::uint64_t number, const std::string& label);
    void remove_event(std::uint64_t number);
    const EventLog& events() const { return events_; }

    /// Intervals of traces(). Edit them in place; then call Baseline::follow().
    std::vector<Interval> intervals;
    /// Takes F₀ of every pixel: of a film over the baseline interval, otherwise over the next seconds.
    void take_baseline_image();

    /// Checks the source: see source_check(). Requires a running pipeline.
    std::function<CheckReport()> check() const { return source_check(state_); }
    TraceHistory& traces() { return *traces_; } ///< of the regions, over all sources of the session
    void report(Result result) { recordings.report(std::move(result), *traces_, baseline, events_); }
    void say(Message::Level level, std::string text) { state_.notices.say(level, std::move(text)); }
    Notices& notices() { return state_.notices; }
    const Notices& notices() const { return state_.notices; }

private:
    SessionState state_;
    const std::shared_ptr<LiveLook> look_;
    const std::shared_ptr<TraceHistory> traces_ = std::make_shared<TraceHistory>();

public:
    Recordings recordings{state_, look_};
    PictureBaseline picture_baseline{state_};
    WholeFilm whole_film{state_, traces_};
    Comparison comparison{state_};
    Baseline baseline; ///< of the regions
    Exports exports{{state_, recordings, whole_film, picture_baseline, baseline, traces_, look_}};
    Doors doors;
    /// Quantity of a fixed range from a preset; the window clears it when results have this quantity.
    std::string range_for;

private:
    struct Opened {
        std::shared_ptr<Pipeline> pipeline;
        Settings settings;
        std::vector<std::string> remarks{}; ///< from a recording
        bool restored = false;              ///< it brought colours and possibly regions
    };
    /// How the present source was opened, and the next one.
    struct Opening {
        struct Work { ///< shared with the thread that opens
            std::mutex mutex;
            std::string text;
            std::atomic<bool> cancelled{false};
        };
        struct Next {
            SourceArgument source;
            bool as_set = false;
        };
        std::string work_text() const; ///< a long step of it; empty: none

        std::future<Opened> result;
        std::string text;
        std::shared_ptr<Work> work;
        std::optional<std::string> error;
        std::exception_ptr failure; ///< the same
        std::optional<Waiting> waiting;
        std::optional<Next> next; ///< to open once the present attempt has ended
        std::uint64_t generation = 0;
        bool restored = false;
    };
    /// The chain as the user edits it.
    struct EditedChain {
        Chain chain;
        std::shared_ptr<const Chain> read; ///< of the pipeline; `chain` is a copy
        bool held = false;                 ///< `chain` waits for a file and was not applied
        std::string compared; ///< not empty: held, and the pipeline has the chain before this edit
        void release() {
            held = false;
            compared.clear();
        }
    };
    /// Sinks of every pipeline of the session, from its first frame on.
    struct Listeners {
        std::shared_ptr<TraceHistory> traces; ///< null: traces are not read
        Doors doors;
        void join(Pipeline& pipeline) const;
    };
    Listeners listeners() const;
    std::shared_ptr<Pipeline> first_pipeline(bool host_results);
    void open_in_background(std::function<Opened()> begin);
    void show(Opened opened);
    void restore(const Settings& recorded);
    void poll_opening();
    void wait_for_source(const std::string& reason);
    void try_source_again();
    void show_awaited(Opened opened);
    UndoState state_now();
    /// False, with a message, if the chain is refused.
    bool restore(const UndoState& state);
    void update_alarms();
    void report_scale(bool kept);

    std::deque<SourceArgument> recent_;
    std::optional<StatsSnapshot> last_stats_;
    Opening opening_;
    std::uint64_t regions_sent_ = 0,
                  regions_opening_ = 0; ///< revisions: of the pipeline, of one being opened
    FreshnessWatch freshness_;
    AlarmWatch alarms_;
    EventLog events_;
    EditedChain edited_;
    Params source_params_;
    UndoHistory history_;
};

} // namespace specklescope
