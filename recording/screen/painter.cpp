// Images of the screen with the marks on them.
#include "analysis/region.hpp"
#include "base/error.hpp"
#include "have_cairo.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/screen/screen.hpp"

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "analysis/region_editor.hpp"
#include "base/log.hpp"
#include "recording/draw/canvas.hpp"

#include <spdlog/spdlog.h>

#include <set>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>

namespace specklescope {

namespace {
#ifdef SPECKLESCOPE_HAVE_CAIRO
constexpr bool kCanBurn = true;
#else
constexpr bool kCanBurn = false;
#endif
constexpr double kEventSeconds = 2;    ///< capture time for which the label of an event is shown
constexpr std::size_t kMostEvents = 4; ///< maximum number of labels at a time: the newest
} // namespace

const std::vector<std::string>& screen_layout_names() {
    static const std::vector<std::string> names = {"processed", "raw", "side_by_side", "split", "blended"};
    return names;
}

const ParamTable& screen_marks_table() {
    using M = ScreenMarks;
    static const ParamTable table =
        Declare<M>("screen")
            .boolean("burn_bar", &M::bar,
                     {.label = "Colour bar", .doc = "Draw the colour bar next to the image in screen movies"})
            .boolean("burn_time", &M::time,
                     {.label = "Time and frame", .doc = "Draw time and frame number on screen movies"})
            .boolean("burn_scale", &M::scale,
                     {.label = "Scale bar",
                      .doc = "Draw a scale bar on screen movies, if the pixel size is known"})
            .boolean("burn_regions", &M::regions,
                     {.label = "Regions", .doc = "Draw outlines and names of regions on screen movies"})
            .boolean("burn_events", &M::events,
                     {.label = "Events", .doc = "Draw event labels for two seconds on screen movies"})
            .integer("screen_zoom", &M::zoom,
                     {.label = "Enlargement",
                      .min = 1,
                      .max = M::kMaxZoom,
                      .doc = "Enlarge the pixels of screen movies by this factor"})
            .table();
    return table;
}

bool can_draw_marks() { return kCanBurn; }

void check_marks(const ScreenMarks& marks, const std::string& owner) {
    if (!marks.any() || kCanBurn)
        return;
    std::string named;
    for (const ParamDecl& decl : screen_marks_table().decls())
        if (decl.kind == ParamKind::boolean && std::get<bool>(decl.get(std::any(marks)))) {
            named = decl.name;
            break;
        }
    throw UsageError(owner + ": " + named +
                     " = true is not available: built without Pango and Cairo. Install libpango1.0-dev and "
                     "build again, or leave the marks out.");
}

namespace {
/// Marks of one frame.
struct BurnedText {
    std::string time;                ///< empty: none
    std::vector<std::string> events; ///< labels
    std::vector<Region> regions;     ///< in pixels of the result
    double um_per_px = 0;            ///< of the result; 0: unknown
    double um_per_raw_px = 0;
};

} // namespace

/// Draws the marks of one movie.
class ScreenPainter::Burner {
public:
    explicit Burner(const ScreenMarks& marks);
    ~Burner();
    Burner(const Burner&) = delete;
    Burner& operator=(const Burner&) = delete;

    /// Size of the movie: enlarged, and with the strip of the colour bar. u8, three channels.
    Shape shape(const ScreenPicture& picture) const;
    /// `rgb` has that size.
    void burn(const ScreenPicture& picture, const BurnedText& text, HostView rgb);

private:
    struct Drawing;
    /// Height of the text in pixels of the movie.
    int text_size(const ScreenPicture& picture) const;
    /// Width of the strip on the right; 0: none.
    int strip(const ScreenPicture& picture) const;

    ScreenMarks marks_;
    std::unique_ptr<Drawing> drawing_;
};

namespace {

/// Draws each pixel `zoom` × `zoom` times, into the upper left of `to`.
void enlarge(ConstHostView from, int zoom, HostView to) {
    const auto times = static_cast<std::size_t>(zoom);
    const std::size_t bytes = from.shape.row_bytes() * times;
    for (int y = 0; y < from.shape.height; ++y) {
        const std::byte* in = from.row(y);
        std::byte* out = to.row(y * zoom);
        if (zoom == 1) {
            std::memcpy(out, in, bytes);
            continue;
        }
        for (int x = 0; x < from.shape.width; ++x)
            for (std::size_t i = 0; i < times; ++i)
                std::memcpy(out + (static_cast<std::size_t>(x) * times + i) * 3, in + std::ptrdiff_t{3} * x,
                            3);
        for (int i = 1; i < zoom; ++i)
            std::memcpy(to.row(y * zoom + i), out, bytes);
    }
}

} // namespace

int ScreenPainter::Burner::text_size(const ScreenPicture& picture) const {
    return std::clamp(picture.shape.height * marks_.zoom / 30, 9, 32);
}

int ScreenPainter::Burner::strip(const ScreenPicture& picture) const {
    return marks_.bar && picture.legend.shown ? 10 * text_size(picture) : 0;
}

Shape ScreenPainter::Burner::shape(const ScreenPicture& picture) const {
    return {picture.shape.width * marks_.zoom + strip(picture), picture.shape.height * marks_.zoom, 3,
            PixelType::u8};
}

#ifndef SPECKLESCOPE_HAVE_CAIRO

struct ScreenPainter::Burner::Drawing {};
ScreenPainter::Burner::Burner(const ScreenMarks& marks) : marks_(marks) {
    check_marks(marks, "Movies of the screen");
}
ScreenPainter::Burner::~Burner() = default;

void ScreenPainter::Burner::burn(const ScreenPicture& picture, const BurnedText&, HostView rgb) {
    enlarge({picture.rgb.data(), picture.shape}, marks_.zoom, rgb);
}

#else

namespace {
constexpr Ink kDim{0.6, 0.65, 0.7}, kAccent{1, 0.78, 0.3}, kStrip{0.04, 0.05, 0.063};
} // namespace

struct ScreenPainter::Burner::Drawing {
    std::unique_ptr<ImageCanvas> canvas;
    std::set<std::string> left_out; ///< already logged

    void leave_out(const std::string& what) {
        if (left_out.insert(what).second)
            run_log().warn("The screen movie is too small for {}. Enlarge the image with --screen-zoom.",
                           what);
    }

    /// Draws text on a dark box; false if it is wider than the available space.
    bool boxed(double x, double y, double room, const std::string& text, const TextStyle& style,
               const std::string& what) {
        const double pad = style.size * 0.4, wide = canvas->text_width(text, style);
        if (wide + 2 * pad > room) {
            leave_out(what);
            return false;
        }
        canvas->fill({x, y, wide + 2 * pad, style.size * 1.7}, kShade);
        canvas->line(x + pad, y + style.size * 0.15, wide + 2, text, style);
        return true;
    }

    void bar(const ScreenPicture& picture, double x, double high, double wide, double size) {
        canvas->fill({x, 0, wide, high}, kStrip);
        const PaperRect area{x + size, size * 3.5, size * 1.2, high - size * 5};
        if (area.height < size * 4)
            return leave_out("the colour bar");
        const ScreenLegend& legend = picture.legend;
        draw_color_bar(*canvas, area, {legend.map, legend.range, legend.curve, legend.symbol, legend.unit},
                       {size, kLight, kLight, kDim});
    }

    /// `taken`: height of other marks at the top; names stay below it.
    void regions(const std::vector<Region>& outlines, const ScreenPane& pane, int zoom, double size,
                 double taken) {
        const double thick = std::max<double>(zoom, std::round(size / 14));
        canvas->clip({static_cast<double>(pane.x * zoom), static_cast<double>(pane.y * zoom),
                      static_cast<double>(pane.width * zoom), static_cast<double>(pane.height * zoom)});
        const OutlinePlace place{static_cast<double>(pane.result_x * zoom),
                                 static_cast<double>(pane.result_y * zoom), static_cast<double>(zoom)};
        for (std::size_t i = 0; i < outlines.size(); ++i) {
            const Ink ink = ink_of(region_colour(outlines[i], i));
            draw_outline(*canvas, place, outlines[i], ink, thick);
            double left = outlines[i].points.front().x, top = outlines[i].points.front().y;
            for (const RegionPoint& point : region_corners(outlines[i]))
                top = std::min(top, point.y), left = std::min(left, point.x);
            const TextStyle style{.size = size * 0.8, .bold = true, .ink = ink};
            const double x = place.x + left * zoom, y = place.y + top * zoom - size * 1.3 - thick;
            canvas->line(x + thick, std::max(y, place.y + taken), 20 * size, outlines[i].name, style);
        }
        canvas->unclip();
    }
};

ScreenPainter::Burner::Burner(const ScreenMarks& marks)
    : marks_(marks), drawing_(std::make_unique<Drawing>()) {}
ScreenPainter::Burner::~Burner() = default;

void ScreenPainter::Burner::burn(const ScreenPicture& picture, const BurnedText& text, HostView rgb) {
    if (!marks_.any())
        return enlarge({picture.rgb.data(), picture.shape}, marks_.zoom, rgb);
    const Shape size = shape(picture);
    Drawing& d = *drawing_;
    if (!d.canvas || d.canvas->width() != size.width || d.canvas->height() != size.height)
        d.canvas = std::make_unique<ImageCanvas>(size.width, size.height);
    const int zoom = marks_.zoom;
    const double high = size.height, wide = static_cast<double>(picture.shape.width) * zoom;
    const double letters = text_size(picture);
    d.canvas->picture({picture.rgb.data(), picture.shape}, {0, 0, wide, high});
    if (const int right = strip(picture); right > 0)
        d.bar(picture, wide, high, right, letters);
    if (marks_.regions)
        for (const ScreenPane& pane : picture.panes)
            if (pane.regions)
                d.regions(text.regions, pane, zoom, letters, marks_.time ? letters * 2.3 : 0);
    if (marks_.scale)
        for (const ScreenPane& pane : picture.panes)
            if (const double um = pane.raw ? text.um_per_raw_px : text.um_per_px;
                um > 0 &&
                !draw_scale_bar(*d.canvas,
                                {static_cast<double>(pane.x * zoom), static_cast<double>(pane.y * zoom),
                                 static_cast<double>(pane.width * zoom),
                                 static_cast<double>(pane.height * zoom)},
                                um / zoom, letters))
                d.leave_out("the scale bar");
    const double gap = std::floor(letters * 0.5);
    double y = gap;
    if (marks_.time && !text.time.empty() &&
        d.boxed(gap, y, wide - 2 * gap, text.time, {.size = letters, .ink = kLight}, "the time stamp"))
        y += letters * 2;
    if (marks_.events)
        for (const std::string& label : text.events) {
            if (y + letters * 2 > high ||
                !d.boxed(gap, y, wide - 2 * gap, label, {.size = letters, .bold = true, .ink = kAccent},
                         "the label of an event"))
                break;
            y += letters * 2;
        }
    d.canvas->read(rgb);
}

#endif

namespace {

/// "2026-11-23 10:31:05.123", local time.
std::string time_of_day(SteadyClock::time_point moment) {
    using namespace std::chrono;
    const auto wall =
        system_clock::now() + duration_cast<system_clock::duration>(moment - SteadyClock::now());
    const std::time_t seconds = system_clock::to_time_t(wall);
    std::tm local{};
    ::localtime_r(&seconds, &local);
    std::array<char, 40> date{};
    std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M:%S", &local);
    const std::string ms =
        std::to_string(duration_cast<milliseconds>(wall.time_since_epoch()).count() % 1000);
    return std::string(date.data()) + "." + std::string(3 - std::min<std::size_t>(ms.size(), 3), '0') + ms;
}

} // namespace

ScreenPainter::ScreenPainter(const ScreenMarks& marks)
    : marks_(marks), burner_(std::make_unique<Burner>(marks)) {}
ScreenPainter::~ScreenPainter() = default;

void ScreenPainter::begin(const StreamInfo& stream) {
    stream_ = stream;
    first_ns_.reset();
    events_.clear();
}

/// The last change of a number counts.
void ScreenPainter::take(const EventMark& event) {
    std::erase_if(events_, [&](const EventMark& known) { return known.number == event.number; });
    if (!event.removed)
        events_.push_back(event);
}

std::vector<std::string> ScreenPainter::labels(std::int64_t capture_ns) {
    constexpr auto kSeen = static_cast<std::int64_t>(kEventSeconds * 1e9);
    std::erase_if(events_, [&](const EventMark& event) { return event.capture_ns + kSeen <= capture_ns; });
    std::vector<std::string> seen;
    for (auto event = events_.rbegin(); event != events_.rend() && seen.size() < kMostEvents; ++event)
        seen.push_back(event->label.empty() ? "event " + std::to_string(event->number) : event->label);
    return seen;
}

std::string ScreenPainter::time_text(const FrameInfo& info) {
    if (!first_ns_)
        first_ns_ = info.capture_ns;
    std::array<char, 80> text{};
    const auto frame = static_cast<unsigned long long>(info.position.value_or(info.sequence));
    if (info.has_time())
        std::snprintf(text.data(), text.size(), "%.3f s   frame %llu",
                      static_cast<double>(info.capture_ns - *first_ns_) * 1e-9, frame);
    else
        std::snprintf(text.data(), text.size(), "frame %llu", frame);
    return (stream_.source.live ? time_of_day(info.arrival) + "   " : "") + text.data();
}

RecordedFrame ScreenPainter::of(const RecordedFrame& frame) {
    draw_screen(frame, *frame.look, picture_);
    if (rests_on_assumption(frame.quantity, frame.exposure) && picture_.legend.unit != "%")
        picture_.legend.unit += " *"; // the exposure is assumed
    for (const EventMark& event : frame.events)
        take(event);
    BurnedText text;
    text.time = time_text(frame.info);
    text.events = labels(frame.info.capture_ns);
    if (frame.regions && marks_.regions)
        text.regions = regions_of(*frame.regions);
    text.um_per_px = um_per_px(stream_, frame.chain.get());
    text.um_per_raw_px = um_per_px(stream_, nullptr);
    const Shape shape = burner_->shape(picture_);
    check_shape(shape, "A movie of the screen");
    if (!ring_ || ring_->shape() != shape)
        ring_.emplace(shape, 2, host_memory()); // a writer of one picture holds the last
    RecordedFrame painted = frame;
    painted.raw.reset();
    painted.quantity = {}; // colours, not values
    painted.pixels = ring_->acquire(std::chrono::seconds(10));
    burner_->burn(picture_, text, painted.pixels.host());
    return painted;
}

} // namespace specklescope
