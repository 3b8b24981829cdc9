#include "ui/session.hpp"

#include "analysis/regions_file.hpp"
#include "base/long_work.hpp"
#include "base/sentence.hpp"
#include "config/last_window.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "net/outlet.hpp"
#include "ui/panels/controls.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace specklescope {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNotes = 60;
constexpr std::size_t kRecent = 12;

bool ready(const auto& future) { return future.valid() && future.wait_for(0s) == std::future_status::ready; }

/// What was shown before goes on; if that cannot be either, its state says why.
void start_again(Pipeline& pipeline, const Session::Listeners& listeners) {
    try {
        listeners.join(pipeline);
        pipeline.start();
    } catch (const std::exception& error) {
        spdlog::debug("{}", sentence_of(error));
    }
}

} // namespace

Note note(Message::Level level, std::string text) {
    return {level, std::move(text), SteadyClock::now(), false};
}

void Session::Listeners::join(Pipeline& pipeline) const {
    pipeline.add_sink(make_trace_feed(traces));
    doors.join(pipeline);
}

void Session::start(void (*notify)()) {
    notify_ = notify;
    doors = open_doors(settings_, look_);
    if (!settings_.regions && !settings_.regions_path.empty()) {
        regions.reset(load_regions(settings_.regions_path));
        regions_path = settings_.regions_path;
    } else if (settings_.regions) {
        regions.reset(*settings_.regions);
    }
    regions_opening_ = regions.revision();
    if (settings_.remember)
        for (const SourceArgument& source : load_recent())
            recent_.push_back(source);
    settings_.um_per_source_px = um_per_source_px(settings_);
    settings_.program.set("um_per_px", 0.0); // from here on it is the window's
    const auto begin = [this] {
        take_baseline_ahead();
        std::shared_ptr<Pipeline> pipeline = make_pipeline(settings_);
        pipeline->mailbox().on_post(notify_);
        listeners().join(*pipeline);
        auto recordings =
            add_outputs(*pipeline, {.settings = settings_, .look = look_}); // from the first frame
        pipeline->start();
        return std::pair(std::move(pipeline), std::move(recordings));
    };
    auto [pipeline, recordings] = [&] {
        try {
            return begin();
        } catch (const Cancelled&) {
            throw;
        } catch (const Error& error) {
            if (!settings_.source_remembered)
                throw;
            say(Message::Level::warning, std::string("The last source cannot be opened: ") + error.what() +
                                             " Showing the simulated scene.");
            settings_.source = {};
            settings_.um_per_source_px = 0;
            if (settings_.regions_path.empty()) { // remembered with that source
                settings_.regions.reset();
                regions.reset({});
                regions_opening_ = regions.revision();
            }
            return begin();
        }
    }();
    adopt({std::move(pipeline), settings_, {}, false});
    recordings_ = std::move(recordings);
    std::erase_if(settings_.outputs, [](const Output& output) { return output.kind->make != nullptr; });
    show_baseline_ahead();
    tell_given_scale();
    settings_.program.set("from", std::int64_t{0});
    settings_.program.set("from_s", 0.0);
    settings_.regions_path.clear(); // from here on they are the window's
}

void Session::adopt(Opened opened) {
    if (opened.settings.source != settings_.source && baseline.taken()) {
        baseline.clear();
        say(Message::Level::info,
            "The baseline of the regions was of the source before, and is left out; take it of "
            "this one.");
    }
    settings_.source = opened.settings.source;
    settings_.source_remembered = false;
    settings_.um_per_source_px = opened.settings.um_per_source_px;
    drop_baseline_image();
    pipeline_ = std::move(opened.pipeline);
    held_ = false;
    (void)chain();
    regions_sent_ = regions_opening_;
    restored_ = opened.restored;
    if (restored_)
        restore(opened.settings);
    source_params_ = pipeline_->source_params();
    ++generation_;
    remember_recent(settings_.source.empty() ? SourceArgument("synthetic") : settings_.source);
}

/// Colours, channel and regions of a recording that has been opened; its chain runs already.
void Session::restore(const Settings& recorded) {
    view().mapping = recorded.view.as<ViewSettings>().mapping;
    settings_.program.set("channel", recorded.program.get("channel"));
    if (recorded.regions && !recorded.regions_from.empty()) {
        regions.replace(*recorded.regions); // Ctrl Z brings back those before
        regions_sent_ = regions.revision(); // they came with the pipeline
    }
}

void Session::remember_recent(const SourceArgument& text) {
    std::erase(recent_, text);
    recent_.push_front(text);
    while (recent_.size() > kRecent)
        recent_.pop_back();
}

void Session::open(const SourceArgument& text, bool as_set) {
    if (opening())
        return say(Message::Level::warning, kOpening);
    Settings wanted = settings_;
    wanted.source = text;
    wanted.chain = running_chain();
    wanted.regions = regions.regions();
    wanted.regions_from.clear();
    wanted.chain_from = as_set ? "the window" : "";
    wanted.remarks.clear();
    regions_opening_ = regions.revision();
    opening_text_ = text.shown();
    const bool again = pipeline_ && text == settings_.source;
    open_beside([wanted, again, as_set, notify = notify_, listeners = listeners(),
                 old = again ? pipeline_ : nullptr]() mutable -> Opened {
        try {
            if (old)
                old->stop(); // a camera opens once only
            bool restored = false;
            if (!again && !as_set)
                restored = take_recording(wanted);
            else if (!again)
                show_as_they_are(wanted, look_at_source(wanted));
            std::shared_ptr<Pipeline> pipeline = make_pipeline(wanted);
            pipeline->mailbox().on_post(notify);
            listeners.join(*pipeline);
            pipeline->start();
            if (pipeline->status().source.um_per_px > 0) { // it knows better than the one before
                pipeline->set_um_per_source_px(0);
                wanted.um_per_source_px = 0;
            }
            return {std::move(pipeline), wanted, wanted.remarks, restored};
        } catch (const std::exception&) {
            if (old)
                start_again(*old, listeners);
            throw;
        }
    });
}

std::exception_ptr Session::take_open_failure() {
    open_error_.reset();
    return std::exchange(open_failure_, nullptr);
}

std::optional<SourceArgument> Session::known_source(const std::string& shown) const {
    if (shown == settings_.source.shown())
        return settings_.source;
    const auto at = std::find_if(recent_.begin(), recent_.end(),
                                 [&](const SourceArgument& source) { return source.shown() == shown; });
    return at == recent_.end() ? std::nullopt : std::optional(*at);
}

bool Session::source_lost() const {
    if (!pipeline_)
        return false;
    const PipelineStatus status = pipeline_->status();
    return status.source.live && (status.state == RunState::reconnecting || status.state == RunState::failed);
}

void Session::play_again() {
    if (opening() || !pipeline_)
        return;
    opening_text_ = settings_.source.shown();
    pipeline_->pause(false);
    open_beside([wanted = settings_, same = pipeline_, listeners = listeners()]() -> Opened {
        same->stop();
        listeners.join(*same);
        same->start();
        return {same, wanted, {}, false};
    });
}

void Session::open_beside(std::function<Opened()> begin) {
    (void)take_open_failure();
    opening_work_ = std::make_shared<OpeningWork>();
    opening_ =
        std::async(std::launch::async, [begin = std::move(begin), notify = notify_, work = opening_work_] {
            const WatchWork watch(
                [work, notify, told = SteadyClock::now()](std::string_view what, double part) mutable {
                    if (const auto now = SteadyClock::now(); now - told > 200ms) {
                        told = now;
                        const std::scoped_lock lock(work->mutex);
                        work->text =
                            std::string(what) +
                            (part < 0 ? "" : " · " + std::to_string(static_cast<int>(part * 100)) + " %");
                        notify();
                    }
                    return !work->cancelled;
                });
            struct Wake { // also when it throws
                void (*notify)();
                ~Wake() { notify(); }
            } const wake{notify};
            return begin();
        });
}

std::string Session::opening_work() const {
    if (!opening_work_)
        return "";
    const std::scoped_lock lock(opening_work_->mutex);
    return opening_work_->text;
}

void Session::poll_opening() {
    if (!ready(opening_))
        return;
    try {
        Opened opened = opening_.get();
        if (opened.pipeline == pipeline_) {
            before_.reset(); // closed with the run before, as its recordings, which are told of as such
            before_of_.reset();
            return;
        }
        end_recordings();
        if (auto old = std::move(pipeline_))
            work_.push_back(std::async(std::launch::async, [old] {
                old->stop();
                return note(Message::Level::info, "");
            }));
        const std::vector<std::string> remarks = opened.remarks;
        adopt(std::move(opened));
        say(Message::Level::info,
            "Opened " + (settings_.source.empty() ? "the simulated scene" : settings_.source.shown()) + ".");
        for (const std::string& remark : remarks)
            say(Message::Level::info, remark);
        if (um_per_px(chain_) > 0)
            tell_scale(settings_.um_per_source_px > 0);
    } catch (const std::exception& error) {
        open_failure_ = std::current_exception();
        open_error_ = sentence_of(error); // a dialog tells it, so no message on the picture does
        spdlog::error("{}", *open_error_);
    }
}

bool Session::poll() {
    const std::size_t before = notes_.size();
    const std::uint64_t generation = generation_;
    const bool was_opening = opening();
    poll_opening();
    if (pipeline_)
        for (Message& message : pipeline_->take_messages()) {
            notes_.push_back(note(message.level, std::move(message.text))); // the pipeline has logged it
        }
    poll_recordings();
    poll_pre_trigger();
    poll_baseline_image();
    tell_metrics();
    send_regions();
    for (std::size_t i = 0; i < work_.size();) {
        if (!ready(work_[i])) {
            ++i;
            continue;
        }
        Note done = work_[i].get();
        if (done.failed_recording)
            failed_recordings.push_back(done.text);
        if (done.logged)
            notes_.push_back(std::move(done));
        else if (!done.text.empty())
            say(done.level, done.text);
        work_.erase(work_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    const bool news = notes_.size() != before || generation != generation_ || was_opening != opening();
    while (notes_.size() > kNotes)
        notes_.pop_front();
    return news;
}

void Session::tell_metrics() {
    const auto now = SteadyClock::now();
    if (!doors.metrics || !pipeline_ || now - metrics_told_ < 200ms)
        return;
    doors.metrics->tell(pipeline_->stats(), totals(doors));
    metrics_told_ = now;
}

void Session::say(Message::Level level, std::string text) {
    spdlog::log(level == Message::Level::info      ? spdlog::level::info
                : level == Message::Level::warning ? spdlog::level::warn
                                                   : spdlog::level::err,
                "{}", text);
    notes_.push_back(note(level, std::move(text)));
}

void Session::end_recordings() {
    for (const Recording& recording : std::exchange(recordings_, {})) {
        finish(recording);
        ended.keep(recording);
    }
}

void Session::close() noexcept {
    try {
        if (opening_.valid()) {
            try {
                if (opening_work_)
                    opening_work_->cancelled = true;
                opening_.get().pipeline->stop();
            } catch (const std::exception& error) {
                spdlog::debug("{}", sentence_of(error)); // it failed anyway, and nobody waits for it any more
            }
        }
        end_recordings();
        for (auto& work : std::exchange(work_, {}))
            if (const Note done = work.get(); !done.text.empty() && !done.logged)
                spdlog::info("{}", done.text);
        before_.reset();
        before_of_.reset();
        if (pipeline_) {
            pipeline_->stop();
            last_stats_ = pipeline_->stats();
        }
        pipeline_.reset();
    } catch (const std::exception& error) {
        spdlog::error("{}", sentence_of(error));
    }
}

} // namespace specklescope
