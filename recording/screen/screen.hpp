// Movies of the screen: raw image and result side by side, split or blended, in colours and with marks, as
// in the window. If only the result is shown, the image equals a snapshot pixel for pixel.
#pragma once

#include "recording/look.hpp"
#include "recording/record_file.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// A part of a screen image, in its pixels.
struct ScreenPane {
    int x = 0, y = 0, width = 0, height = 0;
    bool raw = false;               ///< shows the raw image only
    bool regions = false;           ///< regions are drawn here
    int result_x = 0, result_y = 0; ///< position of the first pixel of the result
};

/// Quantity of the colour bar.
struct ScreenLegend {
    ColorMap map = ColorMap::turbo;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear;
    std::string symbol, unit;
    bool shown = false; ///< the result is grey
};

struct ScreenPicture {
    Shape shape; ///< u8, three channels
    std::vector<std::byte> rgb;
    std::vector<ScreenPane> panes;
    ScreenLegend legend;
    std::vector<float> change; ///< memory for the change against a baseline

    HostView view() { return {rgb.data(), shape}; }
};

/// Draws a frame in this look into `picture`, whose memory is reused. frame.pixels is the result, frame.raw
/// the raw image (may be empty if the look shows only the result).
void draw_screen(const RecordedFrame& frame, const ScreenLook& look, ScreenPicture& picture);

/// Images of one recording, on one thread. Marks without space are omitted, which is logged once.
class ScreenPainter {
public:
    explicit ScreenPainter(const ScreenMarks& marks);
    ~ScreenPainter();
    ScreenPainter(const ScreenPainter&) = delete;
    ScreenPainter& operator=(const ScreenPainter&) = delete;
    void begin(const StreamInfo& stream);

    /// u8 RGB of the frame in frame.look. The next call overwrites its pixels. Throws RunError.
    RecordedFrame of(const RecordedFrame& frame);

private:
    void take(const EventMark& event);
    std::string time_text(const FrameInfo& info);
    std::vector<std::string> labels(std::int64_t capture_ns);

    class Burner;
    ScreenMarks marks_;
    StreamInfo stream_;
    std::unique_ptr<Burner> burner_;
    ScreenPicture picture_;
    std::optional<FrameRing> ring_; ///< one slot
    std::optional<std::int64_t> first_ns_;
    std::deque<EventMark> events_;
};

} // namespace specklescope
