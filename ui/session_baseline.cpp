// The baseline of the picture: begun by the user, taken while results pass, there for the view.
#include "base/error.hpp"
#include "config/baseline.hpp"
#include "config/keys/bindings.hpp"
#include "ui/canvas/numbers.hpp"
#include "ui/session.hpp"

#include <utility>

namespace specklescope {

void Session::take_baseline_image() {
    if (collector_)
        return collector_->finish(); // with what there is
    if (!pipeline_ || !pipeline_->started())
        return say(Message::Level::warning,
                   "Nothing runs of which a baseline could be taken; open a source.");
    const double seconds = view().baseline_s;
    auto collector = std::make_shared<BaselineCollector>(seconds);
    try {
        pipeline_->add_sink(collector);
    } catch (const std::exception& error) {
        return say(Message::Level::error, sentence_of(error));
    }
    collector_ = std::move(collector);
    collected_by_ = pipeline_;
    say(Message::Level::info, "Taking the baseline of the picture over the next " + number_text(seconds, 3) +
                                  " s; the same again" +
                                  with_key("", settings_.keys, Action::baseline_picture) + " ends it now.");
}

/// What the command line asks for, before the source is opened, where that is of files.
void Session::take_baseline_ahead() {
    baseline_asked_ = wants_baseline(settings_);
    if (!baseline_asked_)
        return;
    if (baseline_is_of_files(settings_))
        return take_baseline(settings_);
    if (settings_.program.as<ProgramSettings>().change)
        throw UsageError(
            "--change has no baseline yet when the window opens on a camera; record its rest and "
            "name that with --baseline FILE, or leave --change out.");
}

void Session::show_baseline_ahead() {
    const double seconds = settings_.program.as<ProgramSettings>().baseline_seconds;
    settings_.program.set("baseline", std::string()); // from here on it is the window's
    settings_.program.set("baseline_seconds", 0.0);
    settings_.program.set("change", false);
    baseline_image_ = settings_.baseline;
    if (baseline_image_) {
        say(Message::Level::info, "Baseline: " + baseline_image_->text() + ".");
    } else if (baseline_asked_) {
        view().baseline_s = seconds;
        take_baseline_image();
    }
}

void Session::compare_regions(const Result& shown) {
    if (!settings_.baseline || baseline_image_ != settings_.baseline || !shown.regions)
        return;
    const auto& placed = shown.regions->placed;
    if (baseline.taken() && (baseline.taken()->from_picture.empty() || compared_ == placed))
        return;
    if (baseline.take(*traces_, *baseline_image_, placed) &&
        baseline.taken()->regions.size() == placed->regions.size())
        compared_ = placed;
}

std::optional<double> Session::baseline_image_progress() const {
    return collector_ ? std::optional(collector_->progress()) : std::nullopt;
}

void Session::drop_baseline_image() {
    if (collector_) {
        collected_by_->remove_sink(collector_);
        collected_by_.reset();
        collector_.reset();
        say(Message::Level::info, "The baseline of the picture is not taken: its source was closed.");
    }
    if (std::exchange(baseline_image_, nullptr))
        say(Message::Level::info,
            "The baseline of the picture was of the source before, and is left out; take it" +
                with_key("", settings_.keys, Action::baseline_picture) + " of this one.");
}

void Session::poll_baseline_image() {
    if (!collector_)
        return;
    if (pipeline_->finished()) // no more frames come
        collector_->finish();
    const std::shared_ptr<const BaselineImage> taken = collector_->taken();
    const std::string error = collector_->error();
    if (!taken && error.empty())
        return;
    collected_by_->remove_sink(collector_);
    collected_by_.reset();
    collector_.reset();
    if (!taken)
        return say(Message::Level::warning, error);
    baseline_image_ = taken;
    say(Message::Level::info,
        "Baseline of the picture taken over " + count_text(taken->frames()) + " frames" +
            (taken->seconds() > 0 ? ", " + number_text(taken->seconds(), 3) + " s." : "."));
}

} // namespace specklescope
