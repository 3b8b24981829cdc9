// Description of the displayed image: which images are shown, their colours, and the marks in a movie. The
// window updates it with each drawing; without a window it follows the settings of the view.
#pragma once

#include "pipeline/mapping.hpp"
#include "pipeline/param.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

class BaselineImage;

/// split: the raw image on the left of a divider, the result on the right; blended: the result over the raw
/// image.
enum class ScreenLayout : std::uint8_t { processed, raw, side_by_side, split, blended };

/// Names in the order of the enumeration: "processed", …
const std::vector<std::string>& screen_layout_names();

struct ScreenLook {
    ScreenLayout layout = ScreenLayout::processed;
    double split = 0.5; ///< position of the divider, as a fraction of the width
    Blend blend{};
    Mapping mapping{}; ///< for the result
    /// Range of raw images that are not intensities; none: the 0.5 to the 99.5 percentile of each.
    std::optional<ValueRange> raw_range{};
    bool mark_saturated = true; ///< raw pixels at full scale turn kSaturatedColor
    /// If it fits the result, the change against it replaces the result (in a split image the raw image), in
    /// the range −change_range to change_range %.
    std::shared_ptr<const BaselineImage> baseline{};
    double change_range = 50;
};

/// Current look, passed from the drawing thread to recorders. From any thread.
class LiveLook {
public:
    explicit LiveLook(ScreenLook look) : look_(std::make_shared<const ScreenLook>(std::move(look))) {}
    void set(ScreenLook look) {
        auto next = std::make_shared<const ScreenLook>(std::move(look));
        const std::lock_guard lock(mutex_);
        look_ = std::move(next);
    }
    std::shared_ptr<const ScreenLook> get() const {
        const std::lock_guard lock(mutex_);
        return look_;
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<const ScreenLook> look_;
};

/// Marks on a movie of the screen, and the size of its pixels.
struct ScreenMarks {
    static constexpr int kMaxZoom = 16;

    bool bar = false;     ///< the colour bar, in a strip on the right of the picture
    bool time = false;    ///< time since the first frame of the movie, and the number of the frame
    bool scale = false;   ///< the scale bar, if the size of a pixel is known
    bool regions = false; ///< outlines and names
    bool events = false;  ///< labels, for two seconds
    int zoom = 1;         ///< side of a pixel of the image in pixels of the movie
    bool operator==(const ScreenMarks&) const = default;

    bool any() const { return bar || time || scale || regions || events; }
};
/// Keys burn_bar, burn_time, burn_scale, burn_regions, burn_events, screen_zoom.
const ParamTable& screen_marks_table();
bool can_draw_marks(); ///< false: built without Pango
/// Throws UsageError, which begins with `owner`, if this build cannot draw these marks.
void check_marks(const ScreenMarks& marks, const std::string& owner);

} // namespace specklescope
