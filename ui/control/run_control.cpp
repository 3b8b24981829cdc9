#include "ui/control/run_control.hpp"

#include "analysis/region_editor.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "ui/own_end.hpp"

#include <algorithm>

namespace specklescope {

bool RunControl::wanted(const Settings& settings) { return !output_of(settings, "control").empty(); }

RunControl::RunControl(const Settings& settings, Pipeline& pipeline, Doors others,
                       std::shared_ptr<LiveLook> look)
    : settings_(settings), pipeline_(pipeline), others_(std::move(others)), look_(std::move(look)),
      server_(make_control(*this, nullptr)) {
    pipeline_.add_sink(make_trace_feed(traces_));
}

std::vector<Recording> RunControl::poll(const Result& newest) {
    newest_ = newest;
    take_messages();
    look_at_recordings();
    server_->poll();
    return std::exchange(begun_, {});
}

void RunControl::finish() {
    server_->close();
    ending_.clear(); // waits for them
}

Doors RunControl::doors() {
    Doors all = others_;
    all.control = server_->counts();
    return all;
}

void RunControl::take_messages() {
    constexpr std::size_t kMost = 60;
    for (Message& message : pipeline_.take_messages())
        messages_.push_back({std::move(message), SteadyClock::now()});
    for (auto at = ending_.begin(); at != ending_.end();) {
        if (at->wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            ++at;
            continue;
        }
        messages_.push_back({at->get(), SteadyClock::now()});
        at = ending_.erase(at);
    }
    while (messages_.size() > kMost)
        messages_.pop_front();
}

void RunControl::look_at_recordings() {
    for (auto at = recordings_.begin(); at != recordings_.end();) {
        if (!is_over(*at)) {
            ++at;
            continue;
        }
        finish_recording(at->sink);
        ended_.keep(*at);
        at = recordings_.erase(at);
    }
}

void RunControl::finish_recording(const std::shared_ptr<Sink>& sink) {
    ending_.push_back(std::async(std::launch::async, [&pipeline = pipeline_, sink] {
        pipeline.remove_sink(sink);
        return end_of_recording(sink->status());
    }));
}

std::optional<Result> RunControl::newest(bool pixels) {
    if (!newest_.raw)
        return std::nullopt;
    if (pixels && !newest_.image) {
        pipeline_.viewer_wants_host(true); // from now on they come with the results
        return std::nullopt;
    }
    return newest_;
}

void RunControl::open(const std::string&, bool) {
    throw UsageError(
        "A run keeps the source that it was started with; another one can be opened in a window: "
        "start the program without run, with --offscreen where there is no display.");
}

Chain RunControl::chain() { return *pipeline_.chain(); }

std::uint64_t RunControl::edit(std::size_t stage, const NamedValues& values) {
    return pipeline_.edit_all(stage, values);
}

std::uint64_t RunControl::set_chain(Chain chain) { return pipeline_.set_chain(std::move(chain)); }

std::uint64_t RunControl::take_preset(const PresetTaken& taken) {
    set_view(taken.settings.view);
    return set_chain(taken.settings.chain);
}

void RunControl::set_view(const Params& view) {
    settings_.view = view;
    look_->set(look_of(settings_));
}

void RunControl::edit_source(const std::string& key, const ParamValue& value) {
    pipeline_.edit_source(key, value);
}

double RunControl::um_per_px() { return pipeline_.um_per_source_px() * source_pixels_per_pixel(chain()); }

void RunControl::set_um_per_px(double um) {
    pipeline_.set_um_per_source_px(um / source_pixels_per_pixel(chain()));
}

std::vector<Region> RunControl::regions() {
    const auto outlines = pipeline_.regions();
    return outlines ? regions_of(*outlines) : std::vector<Region>{};
}

void RunControl::set_regions(std::vector<Region> regions) {
    RegionEditor editor; // which refuses what the window refuses
    if (newest_.raw)
        editor.set_picture(newest_.shape().width, newest_.shape().height);
    editor.replace(std::move(regions));
    const std::vector<Region>& all = editor.regions();
    pipeline_.set_regions(all.empty() ? nullptr
                                      : make_outlines(all, settings_.program.as<ProgramSettings>().medians));
}

EventMark RunControl::mark(const std::string& label) {
    const std::optional<TraceMoment> newest = traces_->overview().newest;
    if (!newest)
        throw UsageError("An event belongs to a frame, and none has come yet.");
    EventMark mark = events_.mark(*newest, label).mark;
    tell(mark);
    return mark;
}

void RunControl::relabel(std::uint64_t event, const std::string& label) {
    if (const TimedEvent* changed = events_.rename(event, label))
        tell(changed->mark);
}

void RunControl::unmark(std::uint64_t event) {
    if (const std::optional<TimedEvent> gone = events_.remove(event))
        tell(gone->mark);
}

void RunControl::tell(const EventMark& event) const {
    for (const Recording& recording : recordings_)
        recording.sink->mark(event);
    if (others_.publisher)
        others_.publisher->mark(event);
}

void RunControl::begin_recording(const OutputKind& kind, const std::string& path) {
    const Recording begun{
        &kind, kind.make({&kind, path}, {.settings = settings_, .look = look_, .later = true}), path};
    pipeline_.add_sink(begun.sink);
    (void)ended_.take(kind);
    begun_.push_back(begun);
    recordings_.push_back(begun);
}

std::shared_ptr<Sink> RunControl::end_recording(const OutputKind& kind) {
    const auto at = std::find_if(recordings_.begin(), recordings_.end(),
                                 [&](const Recording& one) { return one.kind == &kind; });
    if (at == recordings_.end())
        return ended_.take(kind);
    std::shared_ptr<Sink> sink = at->sink;
    recordings_.erase(at);
    finish_recording(sink);
    return sink;
}

void RunControl::act(Action, const std::string&) {
    throw UsageError("Actions are of the window, and this run has none; start the program without run.");
}

} // namespace specklescope
