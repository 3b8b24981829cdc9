#include "ui/control/run_control.hpp"

#include "analysis/region_editor.hpp"
#include "config/one_recording.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>

namespace specklescope {

bool RunControl::wanted(const Settings& settings) {
    return !settings.program.as<ProgramSettings>().control.empty();
}

RunControl::RunControl(const Settings& settings, Pipeline& pipeline, std::shared_ptr<Publisher> publisher)
    : settings_(settings), pipeline_(pipeline), publisher_(std::move(publisher)),
      server_(make_control(*this, nullptr)) {
    pipeline_.add_sink(make_trace_feed(traces_));
}

void RunControl::adopt(const std::vector<std::shared_ptr<Sink>>& recorders, const Settings& made_of) {
    std::vector<ControlWhat> whats;
    whats.insert(whats.end(), made_of.record.size(), RecordWhat::processed);
    whats.insert(whats.end(), made_of.record_raw.size(), RecordWhat::raw);
    whats.insert(whats.end(), made_of.record_mask.size(), RecordWhat::mask);
    whats.insert(whats.end(), made_of.record_screen.size(), RecordWhat::screen);
    if (!made_of.traces_path.empty())
        whats.emplace_back(std::nullopt);
    for (std::size_t i = 0; i < std::min(whats.size(), recorders.size());
         ++i) // behind them kymographs, widths
        recordings_.push_back({whats[i], recorders[i]});
}

std::vector<std::shared_ptr<Sink>> RunControl::poll(const Result& newest) {
    newest_ = newest;
    take_messages();
    server_->poll();
    return std::exchange(begun_, {});
}

void RunControl::finish() {
    server_.reset();
    ending_.clear(); // waits for them
}

void RunControl::take_messages() {
    constexpr std::size_t kMost = 60;
    for (Message& message : pipeline_.take_messages()) {
        if (message.level == Message::Level::error) { // it may be an edit that was refused
            chain_.reset();
            regions_.reset();
        }
        messages_.push_back({std::move(message), SteadyClock::now()});
    }
    while (messages_.size() > kMost)
        messages_.pop_front();
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

Chain RunControl::chain() {
    if (!chain_)
        chain_ = pipeline_.chain();
    return *chain_;
}

std::uint64_t RunControl::edit(std::size_t stage, const std::string& key, const ParamValue& value) {
    (void)chain();
    chain_->stages()[stage].params.set(key, value);
    return pipeline_.edit(stage, key, value);
}

std::uint64_t RunControl::set_chain(Chain chain) {
    chain_ = chain;
    return pipeline_.set_chain(std::move(chain));
}

void RunControl::edit_source(const std::string& key, const ParamValue& value) {
    pipeline_.edit_source(key, value);
}

double RunControl::um_per_px() { return pipeline_.um_per_source_px() * source_pixels_per_pixel(chain()); }

void RunControl::set_um_per_px(double um) {
    pipeline_.set_um_per_source_px(um / source_pixels_per_pixel(chain()));
}

std::vector<Region> RunControl::regions() {
    if (regions_)
        return *regions_;
    const auto outlines = pipeline_.regions();
    return outlines ? regions_of(*outlines) : std::vector<Region>{};
}

void RunControl::set_regions(std::vector<Region> regions) {
    RegionEditor editor; // which refuses what the window refuses
    if (newest_.raw)
        editor.set_picture(newest_.shape().width, newest_.shape().height);
    editor.replace(std::move(regions));
    regions_ = editor.regions();
    pipeline_.set_regions(regions_->empty()
                              ? nullptr
                              : make_outlines(*regions_, settings_.program.as<ProgramSettings>().medians));
}

EventMark RunControl::mark(const std::string& label) {
    const std::optional<TraceMoment> newest = traces_->overview().newest;
    if (!newest)
        throw UsageError("An event belongs to a frame, and none has come yet.");
    EventMark mark = events_.mark(*newest, label).mark;
    for (const ControlRecording& recording : recordings_)
        recording.sink->mark(mark);
    if (publisher_)
        publisher_->mark(mark);
    return mark;
}

void RunControl::begin_recording(ControlWhat what, const std::string& path) {
    auto sink = make_one_recording(
        what, path, settings_, std::make_shared<const LiveLook>(look_of(settings_.view.as<ViewSettings>())),
        nullptr);
    pipeline_.add_sink(sink);
    begun_.push_back(sink);
    recordings_.push_back({what, std::move(sink)});
}

std::shared_ptr<Sink> RunControl::end_recording(ControlWhat what) {
    const auto at = std::find_if(recordings_.begin(), recordings_.end(),
                                 [&](const ControlRecording& one) { return one.what == what; });
    if (at == recordings_.end())
        return nullptr;
    std::shared_ptr<Sink> sink = at->sink;
    recordings_.erase(at);
    ending_.push_back(
        std::async(std::launch::async, [&pipeline = pipeline_, sink] { pipeline.remove_sink(sink); }));
    return sink;
}

void RunControl::act(Action) {
    throw UsageError("Actions are of the window, and this run has none; start the program without run.");
}

} // namespace specklescope
