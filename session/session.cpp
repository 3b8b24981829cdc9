#include "session/session.hpp"
#include "config/start.hpp"

#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "config/atomic_file.hpp"
#include "config/keys/bindings.hpp"
#include "config/last_window.hpp"
#include "config/numbers.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "files/tone.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "sources/registry.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace specklescope {

namespace {

using namespace std::chrono_literals;

/// Continues with the previous source. If that fails too, the pipeline's state has the reason.
void start_again(Pipeline& pipeline, const std::function<void(Pipeline&)>& join) {
    try {
        join(pipeline);
        pipeline.start();
    } catch (const std::exception& error) {
        run_log().debug("{}", sentence_of(error));
    }
}

/// A user may wait for this source: it is no mistake in its name, and it may be switched on later.
bool waits(const SessionState& state, const Error& error) {
    const auto later = [&] {
        try {
            return may_appear_later(parse_source_text(state.settings.source.revealed()));
        } catch (const UsageError&) {
            return false;
        }
    };
    return state.interactive && !state.program().offscreen && !dynamic_cast<const UsageError*>(&error) &&
           later();
}

std::string count_of(const RegionEditor& editor) {
    const std::size_t count = editor.regions().size();
    return std::to_string(count) + (count == 1 ? " region" : " regions");
}

} // namespace

bool waits_for_file(const ChainStage& stage) {
    const std::vector<ParamDecl>& decls = stage.params.table().decls();
    return !stage.bypassed && std::any_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
        return decl.kind == ParamKind::path && stage.params.visible(decl) &&
               std::get<std::string>(stage.params.get(decl.name)).empty();
    });
}

Session::Session(Settings settings, bool interactive)
    : state_{.settings = std::move(settings),
             .pipeline = {},
             .notices = {},
             .regions = {},
             .interactive = interactive},
      look_(std::make_shared<LiveLook>(interactive ? look_of(state_.view()) : look_of(state_.settings))) {}

// --- start and end --------------------------------------------------------------------------------------

void Session::Listeners::join(Pipeline& pipeline) const {
    if (traces)
        pipeline.add_sink(make_trace_feed(traces));
    doors.join(pipeline);
}

Session::Listeners Session::listeners() const {
    const bool read = state_.interactive || !output_of(state_.settings, "control").empty();
    return {read ? traces_ : nullptr, doors};
}

std::shared_ptr<Pipeline> Session::first_pipeline(bool host_results) {
    picture_baseline.start(state_.settings);
    std::shared_ptr<Pipeline> pipeline = make_pipeline(state_.settings);
    pipeline->mailbox().on_post(state_.notices.wake_call());
    pipeline->viewer_wants_host(host_results);
    recordings.add(*pipeline, state_.settings); // before start(): from the first frame
    listeners().join(*pipeline);
    pipeline->start();
    return pipeline;
}

void Session::start(void (*wake)(), bool host_results) {
    Settings& settings = state_.settings;
    state_.notices.wake_with(wake);
    doors = open_doors(settings, look_);
    if (!settings.regions && !settings.regions_path.empty()) {
        regions.reset(load_regions(settings.regions_path));
        regions_path = settings.regions_path;
    } else if (settings.regions) {
        regions.reset(*settings.regions);
    }
    regions_opening_ = regions.revision();
    intervals = settings.intervals;
    if (settings.remember)
        for (const SourceArgument& source : load_recent())
            recent_.push_back(source);
    settings.um_per_source_px = um_per_source_px(settings);
    settings.program.set("um_per_px", 0.0); // from here on um_per_source_px counts
    std::shared_ptr<Pipeline> pipeline;
    try {
        pipeline = first_pipeline(host_results);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        if (!settings.source_remembered && waits(state_, error)) {
            wait_for_source(sentence_of(error));
            edited_.chain = settings.chain;
            return;
        }
        if (!settings.source_remembered)
            throw;
        say(Message::Level::warning, std::string("The last source cannot be opened: ") + error.what() +
                                         " Showing the simulated scene.");
        settings.source = {};
        settings.um_per_source_px = 0;
        intervals.clear();
        if (settings.regions_path.empty()) { // remembered with that source
            settings.regions.reset();
            regions.reset({});
            regions_opening_ = regions.revision();
        }
        pipeline = first_pipeline(host_results);
    }
    show({std::move(pipeline), settings, {}, false});
    std::erase_if(settings.outputs, [](const Output& output) { return output.kind->make != nullptr; });
    if (state_.interactive) {
        picture_baseline.finish_start();
        const StreamInfo stream = state_.pipeline->stream();
        if (stream.source.um_per_px > 0)
            say(Message::Level::info, "The scale is " + scale_text(stream, &edited_.chain) + ".");
    }
    history_.amend(state_now());
    settings.program.set("from", std::int64_t{0}); // of the first source only
    settings.program.set("from_s", 0.0);
    settings.regions_path.clear();
}

void Session::adopt(std::shared_ptr<Pipeline> pipeline) {
    state_.pipeline = std::move(pipeline);
    (void)chain();
}

void Session::stop() noexcept {
    comparison.close();
    whole_film.stop();
    try {
        if (opening_.result.valid()) {
            try {
                opening_.work->cancelled = true;
                opening_.result.get().pipeline->stop();
            } catch (const std::exception& error) {
                run_log().debug("{}", sentence_of(error)); // it failed anyway, and nothing waits for it now
            }
        }
        if (state_.pipeline)
            state_.pipeline->stop();
        state_.notices.finish();
    } catch (const std::exception& error) {
        run_log().error("{}", sentence_of(error));
    }
}

void Session::close() noexcept {
    try {
        recordings.end_all();
        state_.notices.finish();
        recordings.drop_kept();
        stop();
        if (state_.pipeline)
            last_stats_ = state_.pipeline->stats();
        state_.pipeline.reset();
    } catch (const std::exception& error) {
        run_log().error("{}", sentence_of(error));
    }
}

std::optional<StatsSnapshot> Session::stats() const {
    return state_.pipeline ? state_.pipeline->stats() : last_stats_;
}

bool Session::over(bool listened) const {
    return state_.pipeline && !opening() &&
           (state_.pipeline->finished() || recordings.complete() ||
            (!listened && !doors.send_results() && !recordings.waits_for_trigger() && recordings.over()));
}

bool Session::failed() const {
    return !state_.pipeline || state_.pipeline->status().state == RunState::failed ||
           state_.pipeline->stats().drops.failed > 0;
}

bool Session::poll() {
    const std::size_t before = state_.notices.count();
    const std::uint64_t generation = opening_.generation;
    const bool was_opening = opening();
    poll_opening();
    if (state_.pipeline)
        for (Message& message : state_.pipeline->take_messages())
            state_.notices.add(note(message.level, std::move(message.text))); // the pipeline has logged it
    freshness_.update(state_.pipeline.get());
    recordings.poll();
    whole_film.poll();
    const bool compared = comparison.poll();
    if (state_.interactive)
        update_alarms();
    picture_baseline.poll(whole_film);
    if (state_.pipeline)
        doors.update_metrics(*state_.pipeline);
    apply_regions();
    state_.notices.poll();
    return compared || state_.notices.count() != before || generation != opening_.generation ||
           was_opening != opening();
}

void Session::update_alarms() {
    const std::vector<Alarm> fresh =
        alarms_.update(state_.pipeline.get(), recordings, state_.notices.failed_recordings, freshness(),
                       state_.view().saturation_warning / 100);
    for (const Alarm& alarm : fresh)
        if (alarm.kind != AlarmKind::recording_stopped) { // its own message is there
            Note message =
                note(is_severe(alarm.kind) ? Message::Level::error : Message::Level::warning, alarm.reason);
            message.alarm = true;
            state_.notices.add(std::move(message));
        }
    if (fresh.empty() || !state_.view().sound)
        return;
    state_.notices.run([] {
        std::string why;
        try {
            why = play_tone();
        } catch (const std::exception& error) {
            why = error.what();
        }
        return note(Message::Level::warning,
                    why.empty() ? ""
                                : "Alarms have no sound: " + one_line(why) +
                                      ". Check the sound device, or set the view key sound to false.");
    });
}

void Session::acknowledge_alarms() {
    state_.notices.failed_recordings.clear();
    alarms_.acknowledge();
}

// --- sources ----------------------------------------------------------------------------------------------

void Session::show(Opened opened) {
    Settings& settings = state_.settings;
    const bool other = opened.settings.source != settings.source;
    if (other)
        intervals.clear();
    if (other && baseline.taken()) {
        baseline.clear();
        say(Message::Level::info,
            "The baseline of the regions was for the previous source. Take it again for this one.");
    }
    settings.source = opened.settings.source;
    settings.source_remembered = false;
    settings.chain_default = opened.settings.chain_default;
    settings.um_per_source_px = opened.settings.um_per_source_px;
    picture_baseline.drop();
    comparison.close();
    state_.pipeline = std::move(opened.pipeline);
    edited_.release();
    (void)chain();
    regions_sent_ = regions_opening_;
    opening_.restored = opened.restored;
    if (opened.restored)
        restore(opened.settings);
    if (other)
        history_.forget_source(state_now());
    history_.record(state_now(), "opened " + settings.source.shown());
    source_params_ = state_.pipeline->source_params();
    ++opening_.generation;
    const SourceArgument text = settings.source.empty() ? SourceArgument("synthetic") : settings.source;
    std::erase(recent_, text);
    recent_.push_front(text);
    constexpr std::size_t kRecent = 12;
    while (recent_.size() > kRecent)
        recent_.pop_back();
}

/// Takes colours, channel and regions of an opened recording; its chain runs already.
void Session::restore(const Settings& recorded) {
    view().mapping = recorded.view.as<ViewSettings>().mapping;
    state_.settings.program.set("channel", recorded.program.get("channel"));
    if (recorded.regions && !recorded.regions_from.empty()) {
        regions.replace(*recorded.regions);
        regions_sent_ = regions.revision(); // the pipeline has them
    }
}

void Session::wait_for_source(const std::string& reason) {
    if (!opening_.waiting || opening_.waiting->reason != reason) {
        run_log().warn("{} Waiting for it.", reason);
        Note message = note(Message::Level::warning, reason + " Waiting for it.");
        message.alarm = true;
        state_.notices.add(std::move(message));
    }
    opening_.waiting = {reason, SteadyClock::now() + 2s};
}

void Session::try_source_again() {
    if (!opening_.waiting || opening() || SteadyClock::now() < opening_.waiting->next)
        return;
    Settings wanted = state_.settings;
    wanted.chain = edited_.chain;
    wanted.regions = regions.regions();
    regions_opening_ = regions.revision();
    opening_.text = wanted.source.shown();
    open_in_background([wanted, listeners = listeners(), &notices = state_.notices]() -> Opened {
        std::shared_ptr<Pipeline> pipeline = make_pipeline(wanted);
        pipeline->mailbox().on_post(notices.wake_call());
        listeners.join(*pipeline);
        pipeline->start();
        return {std::move(pipeline), wanted, {}, false};
    });
}

/// The outputs of the settings begin with the source that was waited for.
void Session::show_awaited(Opened opened) {
    opening_.waiting.reset();
    show(std::move(opened));
    try {
        recordings.add(*state_.pipeline, state_.settings);
    } catch (const std::exception& error) {
        say(Message::Level::error, sentence_of(error));
    }
    std::erase_if(state_.settings.outputs, [](const Output& output) { return output.kind->make != nullptr; });
    picture_baseline.finish_start();
    say(Message::Level::info, "Opened " + state_.settings.source.shown() + ".");
}

void Session::open(const SourceArgument& text, bool as_set) {
    if (std::exchange(opening_.waiting, std::nullopt) && opening()) {
        opening_.work->cancelled = true;
        opening_.next = {text, as_set};
        return;
    }
    if (opening())
        return say(Message::Level::warning, kOpening);
    (void)take_open_failure();
    Settings wanted = state_.settings;
    wanted.source = text;
    wanted.chain = running_chain();
    wanted.regions = regions.regions();
    wanted.regions_from.clear();
    wanted.chain_from = as_set ? "the window" : "";
    wanted.remarks.clear();
    regions_opening_ = regions.revision();
    opening_.text = text.shown();
    const bool again = state_.pipeline && text == state_.settings.source;
    decide_chain_again(wanted, again);
    const auto join = [listeners = listeners()](Pipeline& pipeline) { listeners.join(pipeline); };
    open_in_background([wanted, again, as_set, join, &notices = state_.notices,
                        old = again ? state_.pipeline : nullptr]() mutable -> Opened {
        try {
            if (old)
                old->stop(); // a camera opens only once
            bool restored = false;
            if (!again && !as_set)
                restored = take_recording(wanted);
            else if (!again)
                show_as_they_are(wanted, look_at_source(wanted));
            std::shared_ptr<Pipeline> pipeline = make_pipeline(wanted);
            pipeline->mailbox().on_post(notices.wake_call());
            join(*pipeline);
            pipeline->start();
            if (pipeline->status().source.um_per_px > 0) { // replaces the value of the previous source
                pipeline->set_um_per_source_px(0);
                wanted.um_per_source_px = 0;
            }
            return {std::move(pipeline), wanted, wanted.remarks, restored};
        } catch (const std::exception&) {
            if (old)
                start_again(*old, join);
            throw;
        }
    });
}

void Session::play_again() {
    if (opening() || !state_.pipeline)
        return;
    opening_.text = state_.settings.source.shown();
    state_.pipeline->pause(false);
    (void)take_open_failure();
    open_in_background(
        [wanted = state_.settings, same = state_.pipeline, listeners = listeners()]() -> Opened {
            same->stop();
            listeners.join(*same);
            same->start();
            return {same, wanted, {}, false};
        });
}

void Session::open_in_background(std::function<Opened()> begin) {
    opening_.work = std::make_shared<Opening::Work>();
    opening_.result = std::async(std::launch::async, [begin = std::move(begin), &notices = state_.notices,
                                                      work = opening_.work] {
        const WatchWork watch([work, &notices, shown = SteadyClock::now()](std::string_view what,
                                                                           double part) mutable {
            if (const auto now = SteadyClock::now(); now - shown > 200ms) {
                shown = now;
                const std::scoped_lock lock(work->mutex);
                work->text = std::string(what) +
                             (part < 0 ? "" : " · " + std::to_string(static_cast<int>(part * 100)) + " %");
                notices.wake();
            }
            return !work->cancelled;
        });
        struct Wake { // also after an exception
            const Notices& notices;
            ~Wake() { notices.wake(); }
        } const wake{notices};
        return begin();
    });
}

std::string Session::Opening::work_text() const {
    if (!work)
        return "";
    const std::scoped_lock lock(work->mutex);
    return work->text;
}

void Session::poll_opening() {
    try_source_again();
    if (!opening() || opening_.result.wait_for(0s) != std::future_status::ready)
        return;
    try {
        Opened opened = opening_.result.get();
        if (opening_.waiting)
            return show_awaited(std::move(opened));
        if (opening_.next) { // the user did not wait for this one
            opened.pipeline->stop();
            throw Cancelled("Another source was chosen.");
        }
        if (opened.pipeline == state_.pipeline) // play_again(): poll() finishes the recordings it closed
            return recordings.drop_kept();
        recordings.end_all();
        if (auto old = std::move(state_.pipeline))
            state_.notices.run([old] {
                old->stop();
                return note(Message::Level::info, "");
            });
        const std::vector<std::string> remarks = opened.remarks;
        show(std::move(opened));
        const std::string source = state_.settings.source.shown();
        say(Message::Level::info, "Opened " + (source.empty() ? "the simulated scene" : source) + ".");
        for (const std::string& remark : remarks)
            say(Message::Level::info, remark);
        if (um_per_px(edited_.chain) > 0)
            report_scale(state_.settings.um_per_source_px > 0);
    } catch (const std::exception& error) {
        if (opening_.waiting)
            return wait_for_source(sentence_of(error));
        if (const auto next = std::exchange(opening_.next, std::nullopt))
            return open(next->source, next->as_set);
        if (const auto* known = dynamic_cast<const Error*>(&error);
            known && !state_.pipeline && waits(state_, *known))
            wait_for_source(sentence_of(error));
        opening_.failure = std::current_exception();
        opening_.error = sentence_of(error); // shown in a dialog, not as a message
        run_log().error("{}", *opening_.error);
    }
}

std::exception_ptr Session::take_open_failure() {
    opening_.error.reset();
    return std::exchange(opening_.failure, nullptr);
}

std::optional<SourceArgument> Session::known_source(const std::string& shown) const {
    if (shown == state_.settings.source.shown())
        return state_.settings.source;
    const auto at = std::find_if(recent_.begin(), recent_.end(),
                                 [&](const SourceArgument& source) { return source.shown() == shown; });
    return at == recent_.end() ? std::nullopt : std::optional(*at);
}

// --- edits
// --------------------------------------------------------------------------------------------------

const Chain& Session::chain() {
    if (!state_.pipeline || edited_.held)
        return edited_.chain;
    if (auto newest = state_.pipeline->chain(); newest != edited_.read) {
        edited_.chain = *newest;
        edited_.read = std::move(newest);
    }
    return edited_.chain;
}

Settings Session::settings_now() {
    Settings now = state_.settings;
    now.chain = chain();
    now.intervals.clear();
    if (state_.pipeline && state_.pipeline->status().source.seekable) // otherwise of this run only
        now.intervals = intervals;
    return now;
}

std::uint64_t Session::apply(Chain chain) {
    if (!state_.pipeline)
        throw RunError("No source is open; open one in the window.");
    const std::uint64_t version = state_.pipeline->set_chain(std::move(chain));
    state_.settings.chain_default = false;
    edited_.release();
    return version;
}

std::uint64_t Session::set_chain(Chain chain) {
    if (!state_.pipeline)
        return 0;
    chain.set_input(edited_.chain.input());
    edited_.held = std::any_of(chain.stages().begin(), chain.stages().end(), waits_for_file);
    if (!edited_.held)
        return apply(std::move(chain));
    if (!edited_.compared.empty())
        (void)apply(std::exchange(edited_.chain, {}));
    edited_.held = true;
    edited_.chain = std::move(chain);
    state_.settings.chain_default = false;
    return 0;
}

std::uint64_t Session::edit(std::size_t stage, const std::string& name, const ParamValue& value) {
    if (!state_.pipeline || stage >= chain().stages().size())
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

std::uint64_t Session::take_preset(const PresetTaken& taken, bool by_user) {
    const std::uint64_t version = by_user ? set_chain(taken.settings.chain) : apply(taken.settings.chain);
    set_view(taken.settings.view);
    history_.name_next("preset " + taken.name);
    range_for = taken.ranged ? chain().quantity().name : "";
    return version;
}

void Session::set_channel(const ParamValue& name) {
    if (!state_.pipeline)
        return;
    state_.settings.program.set("channel", name);
    const GreyChannel channel = state_.program().channel;
    edited_.chain.set_channel(channel);
    state_.pipeline->set_channel(channel);
}

void Session::show_output(const std::string& name) {
    if (!state_.pipeline)
        return;
    state_.pipeline->show_output(name);
    edited_.chain.set_shown(name);
    state_.settings.program.set("show", name);
}

const Params& Session::source_params() {
    if (state_.pipeline)
        source_params_ = state_.pipeline->source_params();
    return source_params_;
}

void Session::edit_source(const std::string& name, const ParamValue& value) {
    if (!state_.pipeline)
        return;
    try {
        state_.pipeline->edit_source(name, value);
    } catch (const UsageError& error) {
        say(Message::Level::error, error.what());
    }
}

void Session::set_view(const Params& view) {
    state_.settings.view = view;
    look_->set(look_of(state_.settings));
}

double Session::um_per_px(const Chain& of) const {
    return state_.pipeline ? state_.pipeline->um_per_source_px() * source_pixels_per_pixel(of) : 0;
}

void Session::set_um_per_px(double um) {
    if (!state_.pipeline)
        return;
    state_.settings.um_per_source_px = um / source_pixels_per_pixel(chain());
    state_.pipeline->set_um_per_source_px(state_.settings.um_per_source_px);
    if (const double now = um_per_px(edited_.chain); now > 0)
        say(Message::Level::info, "A pixel of the result is " + number_text(now) + " µm a side.");
    else
        say(Message::Level::info, "The pixel size is unknown now.");
    if (!recordings.running().empty())
        say(Message::Level::warning, "Running recordings keep the scale with which they began.");
}

// --- undo -----------------------------------------------------------------------------------------------

namespace {

/// Presses of buttons cannot be undone, so they are kept.
void keep_presses(Chain& chain, const Chain& now) {
    for (ChainStage& stage : chain.stages())
        for (const ChainStage& present : now.stages())
            if (present.type == stage.type)
                for (const ParamDecl& decl : stage.params.table().decls())
                    if (decl.kind == ParamKind::action)
                        stage.params.set(
                            decl.name, std::max(stage.params.get(decl.name), present.params.get(decl.name)));
}

} // namespace

UndoState Session::state_now() {
    const bool own_baseline = baseline.taken() && baseline.taken()->from_picture.empty();
    return {chain(),
            regions.shared(),
            state_.settings.view,
            state_.settings.um_per_source_px,
            intervals,
            own_baseline ? baseline.taken() : std::nullopt,
            picture_baseline.image(),
            picture_baseline.image_over()};
}

void Session::record_edits() {
    if (!state_.pipeline)
        return;
    history_.record(state_now());
    const auto at = baseline_of(intervals);
    if (const auto& over = picture_baseline.over();
        at && over && (over->from_ns != intervals[*at].from_ns || over->to_ns != intervals[*at].to_ns))
        picture_baseline.take_over(intervals[*at]);
}

void Session::range_released() {
    if (history_.entries().empty())
        return;
    UndoState now = state_now();
    UndoState last = history_.entries()[history_.at()].state;
    last.view = now.view;
    if (edit_between(last, now).empty())
        history_.amend(std::move(now));
}

bool Session::restore(const UndoState& state) {
    Chain wanted = state.chain;
    keep_presses(wanted, chain());
    wanted.keep_context(edited_.chain);
    try {
        if (to_string(wanted) != to_string(edited_.chain))
            (void)set_chain(std::move(wanted));
    } catch (const std::exception& error) {
        say(Message::Level::error, sentence_of(error));
        return false;
    }
    if (edited_.chain.channel() != state.chain.channel())
        set_channel(to_string(state.chain.channel()));
    if (edited_.chain.shown() != state.chain.shown())
        show_output(state.chain.displayed());
    regions.restore(*state.regions);
    Params view = state.view;
    keep_window_settings(view, state_.settings.view);
    set_view(view);
    range_for = this->view().mapping.automatic ? "" : chain().displayed_quantity().name;
    if (state_.settings.um_per_source_px != state.um_per_source_px) {
        state_.settings.um_per_source_px = state.um_per_source_px;
        state_.pipeline->set_um_per_source_px(state.um_per_source_px);
    }
    intervals = state.intervals;
    const auto at = baseline_of(intervals);
    baseline.restore(state.baseline, at ? std::optional(intervals[*at]) : std::nullopt);
    picture_baseline.restore(state.baseline_image, state.image_over);
    return true;
}

void Session::undo() {
    record_edits();
    if (!history_.can_undo())
        return say(Message::Level::info, "There is nothing to undo.");
    const std::string edit = history_.entries()[history_.at()].edit;
    if (go_to(history_.at() - 1))
        say(Message::Level::info, "Undid: " + edit + ".");
}

void Session::redo() {
    record_edits();
    if (!history_.can_redo())
        return say(Message::Level::info, "There is nothing to redo.");
    if (go_to(history_.at() + 1))
        say(Message::Level::info, "Redid: " + history_.entries()[history_.at()].edit + ".");
}

void Session::compare_before() {
    if (!state_.pipeline)
        return;
    record_edits();
    if (!edited_.compared.empty())
        return (void)apply(edited_.chain);
    const std::string now = to_string(chain());
    std::size_t i = history_.at() + 1;
    while (i > 0 && to_string(history_.entries()[i - 1].state.chain) == now)
        --i;
    if (i == 0 || edited_.held)
        return say(Message::Level::info, edited_.held
                                             ? "A stage has no file yet. Choose its file first."
                                             : "The stages have not been edited. Edit one, then compare.");
    Chain before = history_.entries()[i - 1].state.chain;
    before.keep_context(edited_.chain);
    try {
        (void)state_.pipeline->set_chain(std::move(before));
    } catch (const UsageError& error) { // of another source
        return say(Message::Level::error, error.what());
    }
    edited_.held = true;
    edited_.compared = history_.entries()[i].edit;
}

bool Session::go_to(std::size_t entry) {
    if (!state_.pipeline || entry >= history_.entries().size())
        return false;
    record_edits();
    if (!restore(history_.entries()[entry].state))
        return false;
    history_.move_to(entry);
    history_.amend(state_now());
    return true;
}

/// After another source was opened; `kept`: the user gave the scale for the source before.
void Session::report_scale(bool kept) {
    const std::string size = number_text(um_per_px(edited_.chain)) + " µm a side";
    say(Message::Level::info,
        kept ? "A pixel stays " + size +
                   ", as it was given for the source before; the pixel size can be changed" +
                   with_key("", state_.settings.keys, Action::pixel_size) + "."
             : "A pixel is " + size + ", as the file says.");
}

// --- regions and events
// -------------------------------------------------------------------------------------

void Session::apply_regions() {
    if (!state_.pipeline || regions.revision() == regions_sent_)
        return;
    regions_sent_ = regions.revision();
    state_.pipeline->set_regions(
        regions.regions().empty()
            ? nullptr
            : make_outlines(regions.regions(), state_.program().medians, OutsideRegions::mark));
}

void Session::load_regions_file(const std::string& path) {
    const bool before = !regions.regions().empty();
    regions.replace(load_regions(path));
    regions_path = path;
    history_.name_next("regions of " + path);
    say(Message::Level::info, "Read " + count_of(regions) + " from " + path +
                                  (before ? "; undo" + with_key("", state_.settings.keys, Action::undo) +
                                                " brings back those before."
                                          : "."));
}

void Session::save_regions_file(const std::string& path) {
    write_atomically(path, to_json(regions.regions()));
    regions_path = path;
    say(Message::Level::info, "Wrote " + count_of(regions) + " to " + path + ".");
}

void Session::take_baseline_image() {
    const auto at = baseline_of(intervals);
    if (at && traces_->overview().film)
        picture_baseline.take_over(intervals[*at]);
    else
        picture_baseline.take();
}

EventMark Session::add_event(const std::string& label) {
    const std::optional<TraceMoment> newest = traces_->overview().newest;
    if (!newest)
        throw UsageError("An event belongs to a frame, and none has come yet.");
    const EventMark mark = events_.mark(*newest, label).mark;
    recordings.mark(mark);
    doors.mark(mark);
    return mark;
}

void Session::mark_event(const std::string& label) {
    try {
        const EventMark mark = add_event(label);
        say(Message::Level::info,
            "Marked " + mark.label + " at frame " + std::to_string(events_.events().back().frame) + ".");
    } catch (const UsageError& error) {
        say(Message::Level::warning, error.what());
    }
}

void Session::rename_event(std::uint64_t number, const std::string& label) {
    if (const TimedEvent* event = events_.rename(number, label)) {
        recordings.mark(event->mark);
        doors.mark(event->mark);
    }
}

void Session::remove_event(std::uint64_t number) {
    if (const std::optional<TimedEvent> event = events_.remove(number)) {
        recordings.mark(event->mark);
        doors.mark(event->mark);
    }
}

} // namespace specklescope
