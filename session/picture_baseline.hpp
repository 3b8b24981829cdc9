// Baseline image F₀ of a session: requested by the settings or by the user, computed from passing results.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/baseline_image.hpp"
#include "analysis/interval.hpp"
#include "session/state.hpp"
#include "session/whole_film.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace specklescope {

class PictureBaseline {
public:
    explicit PictureBaseline(SessionState& state) : state_(state) {}

    /// Takes the baseline of the settings. With a user, the baseline of a live source waits for
    /// finish_start(). Long work (base/long_work.hpp). Throws UsageError or RunError.
    void start(Settings& settings);
    /// Call once the source runs: shows the baseline taken by start(), or begins to take it.
    void finish_start();
    /// Begins F₀ of every pixel over the results of the next `baseline_s` seconds, or ends it now.
    void take();
    /// The same over an interval of the film (FrameInfo::film_ns). poll() processes the film for it, in the
    /// background.
    void take_over(const Interval& interval);
    /// Interval that was requested last, and the interval of image(); none: it follows no interval.
    const std::optional<Interval>& over() const { return over_; }
    const std::optional<Interval>& image_over() const { return image_over_; }
    void poll(WholeFilm& film);
    /// An earlier image() (null: none) with its interval.
    void restore(std::shared_ptr<const BaselineImage> image, const std::optional<Interval>& over);
    /// Drops F₀: another source was opened.
    void drop();
    /// Throws UsageError if the result does not fit the baseline of the settings. Checks the first result.
    void check(const Result& first);
    /// Sets the baseline of the regions from this image, until the user takes another one.
    void compare(const Result& shown, TraceHistory& traces, Baseline& regions);

    std::optional<double> progress() const; ///< 0…1 while one is taken
    const std::shared_ptr<const BaselineImage>& image() const { return image_; }
    bool asked() const { return asked_; } ///< by the settings

private:
    void poll_film(WholeFilm& film);
    void take_from_film(bool whole, const Interval& over, const std::string& why);
    SessionState& state_;
    bool asked_ = false, checked_ = false;
    std::shared_ptr<BaselineCollector> collector_; ///< a sink of collected_by_ while a baseline is taken
    std::shared_ptr<Pipeline> collected_by_;
    std::optional<Interval> over_, image_over_;
    bool wanted_ = false;                           ///< over_ waits for poll()
    std::shared_ptr<BaselineCollector> film_taken_; ///< a sink of a whole film
    std::shared_ptr<const BaselineImage> image_;
    std::shared_ptr<const PlacedRegions> compared_; ///< by compare()
};

} // namespace specklescope
