// Movies of the screen: the images of a look side by side, over or through one another, in colours, as the
// window shows them, and the marks on them. An image is pixel for pixel that of a snapshot where the result
// is shown by itself.
#pragma once

#include "analysis/region.hpp"
#include "recording/look.hpp"
#include "recording/record_file.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// A part of a screen picture, in its pixels.
struct ScreenPane {
    int x = 0, y = 0, width = 0, height = 0;
    bool raw = false;               ///< the raw picture alone
    bool regions = false;           ///< those of the result lie on it,
    int result_x = 0, result_y = 0; ///< and its first pixel here
};

/// What the numbers in the colour bar mean.
struct ScreenLegend {
    ColorMap map = ColorMap::turbo;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear;
    std::string symbol, unit;
    bool shown = false; ///< a grey result is seen
};

struct ScreenPicture {
    Shape shape; ///< u8, three channels
    std::vector<std::byte> rgb;
    std::vector<ScreenPane> panes;
    ScreenLegend legend;
    std::vector<float> change; ///< room for one against a baseline

    HostView view() { return {rgb.data(), shape}; }
};

/// What a frame shows in this look: frame.pixels is the result, frame.raw the raw picture (none where the
/// look shows the result alone). Makes `picture` anew in its own memory.
void draw_screen(const RecordedFrame& frame, const ScreenLook& look, ScreenPicture& picture);

bool can_burn(); ///< this build has what it takes

/// What is drawn beside the picture itself, for one frame.
struct BurnedText {
    std::string time;                ///< empty: none
    std::vector<std::string> events; ///< labels that are seen now
    std::vector<Region> regions;     ///< in pixels of the result
    double um_per_px = 0;            ///< of the result; 0: unknown
    double um_per_raw_px = 0;
};

/// One movie's marks. What finds no room is left out, which is logged once.
class Burner {
public:
    explicit Burner(const ScreenMarks& marks);
    ~Burner();
    Burner(const Burner&) = delete;
    Burner& operator=(const Burner&) = delete;

    /// Size of the movie for this picture: enlarged, and with the strip of the colour bar. u8, three
    /// channels.
    Shape shape(const ScreenPicture& picture) const;
    /// `rgb`: of that size. Throws RunError where something is to be drawn that this build cannot draw.
    void burn(const ScreenPicture& picture, const BurnedText& text, HostView rgb);

    /// Height of the text in pixels of the movie.
    int text_size(const ScreenPicture& picture) const;
    /// Width of the strip on the right; 0: none.
    int strip(const ScreenPicture& picture) const;

private:
    struct Drawing;
    ScreenMarks marks_;
    std::unique_ptr<Drawing> drawing_;
};

/// One recording's. On one thread.
class ScreenPainter {
public:
    /// Capture time from an event for which its label is seen.
    static constexpr double kEventSeconds = 2;
    static constexpr std::size_t kMostEvents = 4; ///< at one time: the newest

    explicit ScreenPainter(const ScreenMarks& marks) : marks_(marks), burner_(marks) {}
    void begin(const StreamInfo& stream);

    /// u8 RGB of the frame as frame.look shows it. Its pixels are overwritten by the next call. Throws
    /// RunError.
    RecordedFrame of(const RecordedFrame& frame);

private:
    void take(const EventMark& event);
    std::string time_text(const FrameInfo& info);
    std::vector<std::string> labels(std::int64_t capture_ns);

    ScreenMarks marks_;
    StreamInfo stream_;
    Burner burner_;
    ScreenPicture picture_;
    std::optional<FrameRing> ring_; ///< of one slot
    std::optional<std::int64_t> first_ns_;
    std::deque<EventMark> events_;
};

} // namespace specklescope
