// The baseline of the picture: begun by the user, taken while results pass, there for the view.
#include "base/sentence.hpp"
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
    say(Message::Level::info, "Baseline of the picture taken over " + count_text(taken->frames()) +
                                  " frames, " + number_text(taken->seconds(), 3) + " s.");
}

} // namespace specklescope
