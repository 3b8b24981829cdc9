// What is on the screen, as data: which pictures are seen, in which colours, and what is burnt into a movie
// of them. The window tells it of each picture that it draws; without one the settings of the view say it.
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

/// split: the raw picture on the left of a divider, the result on the right; blended: the result over the raw
/// picture.
enum class ScreenLayout : std::uint8_t { processed, raw, side_by_side, split, blended };

/// In the order of the enumeration: "processed", …
const std::vector<std::string>& screen_layout_names();

struct ScreenLook {
    ScreenLayout layout = ScreenLayout::processed;
    double split = 0.5; ///< where the divider is, a part of the width
    Blend blend{};
    Mapping mapping{}; ///< of the result
    /// Of the raw picture where it is no picture of light; nothing: the 0.5 to the 99.5 percentile of each.
    std::optional<ValueRange> raw_range{};
    bool mark_saturated = true; ///< raw pixels at full scale turn kSaturatedColor
    /// Where it fits, the change against it takes the place of the result (in a split picture that of the raw
    /// one), from −change_range to change_range %.
    std::shared_ptr<const BaselineImage> baseline{};
    double change_range = 50;
};

/// The look of this moment, handed from who draws to who records. From any thread.
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

/// What is drawn onto a movie of the screen, and how large its pixels are.
struct ScreenMarks {
    static constexpr int kMaxZoom = 16;

    bool bar = false;     ///< the colour bar, in a strip on the right of the picture
    bool time = false;    ///< time since the first frame of the movie, and the number of the frame
    bool scale = false;   ///< the scale bar, where it is known how large a pixel is
    bool regions = false; ///< outlines and names
    bool events = false;  ///< labels, for two seconds
    int zoom = 1;         ///< pixels of the movie for one of the picture, a side
    bool operator==(const ScreenMarks&) const = default;

    bool any() const { return bar || time || scale || regions || events; }
};
/// Keys burn_bar, burn_time, burn_scale, burn_regions, burn_events, screen_zoom.
const ParamTable& screen_marks_table();
/// Throws UsageError, which begins with `owner`, where this build cannot draw what is asked for.
void check_marks(const ScreenMarks& marks, const std::string& owner);

} // namespace specklescope
