#include "session/picture_baseline.hpp"

#include "base/error.hpp"
#include "config/baseline.hpp"
#include "config/keys/bindings.hpp"
#include "config/numbers.hpp"

#include <utility>

namespace specklescope {

void PictureBaseline::start(Settings& settings) {
    asked_ = wants_baseline(settings);
    if (!asked_)
        return;
    if (!state_.interactive || baseline_is_of_files(settings))
        return take_baseline(settings);
    if (settings.program.as<ProgramSettings>().baseline.change)
        throw UsageError("--change needs a baseline before a camera starts. Record a baseline first and add "
                         "--baseline FILE, or remove --change.");
}

void PictureBaseline::finish_start() {
    const double seconds = state_.program().baseline.seconds;
    Params& program = state_.settings.program;
    program.set("baseline", std::string()); // from here on the user decides
    program.set("baseline_seconds", 0.0);
    program.set("change", false);
    image_ = state_.settings.baseline;
    if (image_) {
        state_.notices.say(Message::Level::info, "Baseline: " + image_->text() + ".");
    } else if (asked_) {
        state_.view().baseline_s = seconds;
        take();
    }
}

void PictureBaseline::take() {
    Notices& notices = state_.notices;
    if (collector_)
        return collector_->finish(); // from the results so far
    if (!state_.running())
        return notices.say(Message::Level::warning, "There is no source for a baseline. Open one.");
    const double seconds = state_.view().baseline_s;
    over_.reset();
    auto collector = std::make_shared<BaselineCollector>(seconds);
    try {
        state_.pipeline->add_sink(collector);
    } catch (const std::exception& error) {
        return notices.say(Message::Level::error, sentence_of(error));
    }
    collector_ = std::move(collector);
    collected_by_ = state_.pipeline;
    notices.say(Message::Level::info, "Taking the baseline of the image over the next " +
                                          number_text(seconds, 3) + " s; the same again" +
                                          with_key("", state_.settings.keys, Action::baseline_picture) +
                                          " ends it now.");
}

void PictureBaseline::take_over(const Interval& interval) {
    over_ = interval;
    wanted_ = true;
    state_.notices.say(Message::Level::info, "Taking the baseline of the image over " + interval.name + ", " +
                                                 number_text(static_cast<double>(interval.from_ns) * 1e-9) +
                                                 "–" +
                                                 number_text(static_cast<double>(interval.to_ns) * 1e-9) +
                                                 " s. The film is processed in the background.");
}

void PictureBaseline::restore(std::shared_ptr<const BaselineImage> image,
                              const std::optional<Interval>& over) {
    image_ = std::move(image);
    over_ = image_over_ = over;
    wanted_ = false;
}

void PictureBaseline::poll_film(WholeFilm& film) {
    if (film_taken_ && (wanted_ || film_taken_->progress() == 1)) // the rest of the film is not needed
        film.cancel();
    if (!wanted_ || film.running())
        return;
    wanted_ = false;
    if (const std::string why = film.why_not(); !why.empty())
        return state_.notices.say(Message::Level::warning, "The baseline of the image was not taken. " + why);
    film_taken_ = std::make_shared<BaselineCollector>(over_->from_ns, over_->to_ns);
    try {
        film.start({.sinks = {film_taken_},
                    .over = [this, over = *over_](WholeFilm::Outcome outcome, const std::string& text) {
                        take_from_film(outcome == WholeFilm::Outcome::done, over, text);
                    }});
    } catch (const std::exception& error) { // the film may be gone
        take_from_film(false, *over_, sentence_of(error));
    }
}

void PictureBaseline::take_from_film(bool whole, const Interval& over, const std::string& why) {
    const auto collector = std::exchange(film_taken_, nullptr);
    if (over_ != over) // another interval was chosen or restored
        return;
    if (whole)
        collector->finish();
    if (const auto taken = collector->taken()) {
        image_ = taken;
        image_over_ = over;
        return state_.notices.say(Message::Level::info, "Baseline of the image taken over " +
                                                            count_text(image_->frames()) + " frames.");
    }
    state_.notices.say(Message::Level::warning, "The baseline of the image was not taken. " +
                                                    (collector->error().empty() ? why : collector->error()));
}

void PictureBaseline::poll(WholeFilm& film) {
    poll_film(film);
    if (!collector_)
        return;
    if (state_.pipeline->finished()) // no more frames come
        collector_->finish();
    const std::shared_ptr<const BaselineImage> taken = collector_->taken();
    const std::string error = collector_->error();
    if (!taken && error.empty())
        return;
    collected_by_->remove_sink(collector_);
    collected_by_.reset();
    collector_.reset();
    if (!taken)
        return state_.notices.say(Message::Level::warning, error);
    image_ = taken;
    image_over_.reset();
    state_.notices.say(Message::Level::info,
                       "Baseline of the image taken over " + count_text(taken->frames()) + " frames" +
                           (taken->seconds() > 0 ? ", " + number_text(taken->seconds(), 3) + " s." : "."));
}

void PictureBaseline::drop() {
    over_.reset();
    image_over_.reset();
    wanted_ = false;
    if (collector_) {
        collected_by_->remove_sink(collector_);
        collected_by_.reset();
        collector_.reset();
        state_.notices.say(Message::Level::info,
                           "The baseline of the image was not taken: its source was closed.");
    }
    if (std::exchange(image_, nullptr))
        state_.notices.say(Message::Level::info,
                           "The baseline of the image was for the previous source. Take it again" +
                               with_key("", state_.settings.keys, Action::baseline_picture) +
                               " for this one.");
}

void PictureBaseline::check(const Result& first) {
    const auto& baseline = state_.settings.baseline;
    if (!baseline || checked_ || !(first.image || first.device_image))
        return;
    checked_ = true;
    if (const std::string misfit = baseline->misfit(first); !misfit.empty())
        throw UsageError(baseline->refusal(misfit));
}

void PictureBaseline::compare(const Result& shown, TraceHistory& traces, Baseline& regions) {
    if (!state_.settings.baseline || image_ != state_.settings.baseline || !shown.regions)
        return;
    const auto& placed = shown.regions->placed;
    if (regions.taken() && (regions.taken()->from_picture.empty() || compared_ == placed))
        return;
    if (regions.take(traces, *image_, placed) && regions.taken()->regions.size() == placed->regions.size())
        compared_ = placed;
}

std::optional<double> PictureBaseline::progress() const {
    const auto& collector = film_taken_ ? film_taken_ : collector_;
    return collector ? std::optional(collector->progress()) : std::nullopt;
}

} // namespace specklescope
