#include "recording/report/report.hpp"

#include "base/error.hpp"
#include "base/system.hpp"
#include "base/text.hpp"
#include "files/whole_file.hpp"
#include "have_cairo.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/table.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <regex>
#include <sstream>

#ifdef SPECKLESCOPE_HAVE_CAIRO
#include "analysis/region_editor.hpp"
#include "recording/draw/canvas.hpp"
#include "recording/draw/plot.hpp"

#include <cairo-pdf.h>
#endif

namespace specklescope {

// Facts: identical in PDF and CSV.

namespace {

Mapping with_fixed_range(Mapping mapping, ConstHostView pixels) {
    if (!std::exchange(mapping.automatic, false))
        return mapping;
    const ValueRange range = percentile_range(pixels, mapping.low_percentile, mapping.high_percentile);
    mapping.low = range.low;
    mapping.high = range.high;
    return mapping;
}

/// Empty for NaN.
std::string digits(double value, int significant = 7) {
    char text[40] = "";
    std::snprintf(text, sizeof text, "%.*e", significant - 1, value); // rounds, so that 12345 becomes 12350
    if (!std::isnan(value))
        std::snprintf(text, sizeof text, "%.7g", std::strtod(text, nullptr));
    return std::isnan(value) ? "" : text;
}
std::string seconds(std::int64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(ns) * 1e-9);
    return text;
}
std::string trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
    return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

std::string colours_text(const Report& report) {
    const Mapping& given = report.mapping;
    const Mapping seen = with_fixed_range(given, report.result.image.host());
    std::string text = to_string(mapping_table().at("colormap").get(std::any(given))) + ", " +
                       digits(seen.low, 4) + " to " + digits(seen.high, 4);
    if (const std::string& unit = report.result.quantity.unit; unit != "1")
        text += " " + unit;
    if (given.automatic)
        text += " (percentiles " + digits(given.low_percentile) + " to " + digits(given.high_percentile) +
                " of the image)";
    return text + (given.exposure_stops != 0 ? ", " + digits(given.exposure_stops) + " stops" : "");
}

std::string frame_text(const FrameInfo& info) {
    return "number " + std::to_string(info.sequence) +
           (info.has_time() ? ", at " + seconds(info.capture_ns) + " of the source's clock"
                            : "; the source states no time") +
           (info.position ? ", position " + std::to_string(*info.position) + " in its file" : "");
}

/// The form as it is filled in: subject, date, fields and remarks.
std::vector<std::pair<std::string, std::string>> form_rows(const Report& report) {
    std::vector<std::pair<std::string, std::string>> rows = {{"Subject", report.subject},
                                                             {"Date", report.written}};
    rows.insert(rows.end(), report.form.begin(), report.form.end());
    rows.emplace_back("Remarks", report.note);
    return rows;
}

/// Subject and procedure; without either the name of the source.
std::string title_of(const Report& report) {
    std::string title = report.subject;
    for (const auto& [name, value] : report.form)
        if (name == "Procedure" && !value.empty())
            title += (title.empty() ? "" : " – ") + value;
    const std::string& file = report.stream.source.name;
    return !title.empty() ? title : file.empty() ? report.stream.source_text : file;
}

/// Number, time, frame and label of each event that was not removed.
std::vector<std::array<std::string, 4>> event_rows(const Report& report) {
    std::vector<std::array<std::string, 4>> rows;
    const bool film = report.traces && report.traces->overview.film;
    for (const auto& [mark, time_ns, axis, frame] : report.events)
        if (!mark.removed)
            rows.push_back({std::to_string(mark.number),
                            mark.timed ? seconds(film ? time_ns : mark.capture_ns) : "",
                            std::to_string(film ? frame : mark.sequence), one_line(mark.label)});
    return rows;
}

} // namespace

ReportForm parse_form(const std::string& text) {
    ReportForm form;
    std::istringstream fields(text);
    for (std::string field; std::getline(fields, field, ';');) {
        std::istringstream parts(field);
        std::string name, value;
        std::getline(parts, name, '=');
        std::getline(parts, value);
        if (name = trimmed(name); !name.empty())
            form.emplace_back(std::move(name), trimmed(value));
    }
    return form;
}

std::string form_text(const ReportForm& form) {
    std::string text;
    for (auto [name, value] : form) {
        std::replace(value.begin(), value.end(), ';', ',');
        text += (text.empty() ? "" : "; ") + name + "=" + value;
    }
    return text;
}

RegionTable region_table(const Report& report, int significant_digits) {
    const auto number = [&](double value) { return digits(value, significant_digits); };
    RegionTable table;
    const RegionValues* values = report.result.regions.get();
    const double um = um_per_px(report.stream, report.result.chain.get());
    table.area = um > 0;
    for (std::size_t i = 0; values && i < values->statistics.size(); ++i) {
        const RegionStatistics& s = values->statistics[i];
        const PlacedRegion& region = values->placed->regions[i];
        std::optional<double> f0;
        for (std::size_t k = 0; report.traces && !f0 && k < report.traces->overview.regions.size(); ++k)
            if (report.traces->overview.regions[k].name == region.name)
                f0 = report.traces->baseline[k];
        table.baseline = table.baseline || f0;
        table.rows.push_back({one_line(region.name), region.shape, std::to_string(s.pixels),
                              um > 0 ? number(static_cast<double>(s.pixels) * um * um) : "",
                              std::to_string(s.valid), std::to_string(s.infinite),
                              std::to_string(s.undefined), s.saturated < 0 ? "" : std::to_string(s.saturated),
                              number(s.mean), number(s.std), number(s.mean_of_map), number(s.min),
                              number(s.max), f0 ? number(*f0) : "",
                              f0 ? number(relative_change(s.mean, *f0)) : ""});
    }
    return table;
}

std::vector<std::pair<std::string, std::string>> settings_rows(const Report& report) {
    const Result& result = report.result;
    const StreamInfo& stream = report.stream;
    const std::optional<std::string>& started = stream.source.started;
    const Quantity& map = result.quantity;
    const ReportTraces* traces = report.traces ? &*report.traces : nullptr;
    std::vector<std::pair<std::string, std::string>> rows = form_rows(report);
    rows.insert(rows.end(),
                {{"Source", stream.source_text},
                 {"Name", stream.source.name == stream.source_text ? "" : stream.source.name},
                 {"Recorded", !started           ? ""
                              : started->empty() ? "unknown"
                                                 : *started},
                 {"Program", "Specklescope " SPECKLESCOPE_VERSION},
                 {"Ran on", stream.backend},
                 {"Frames", report.frames},
                 {"Picture", frame_text(result.info)},
                 {"Warm-up", !result.warming_up()   ? ""
                             : result.warmup.done() ? "not complete: the frame was recorded during it"
                                                    : to_string(result.warmup) + ": not complete"},
                 {"Map", map.name + " " + map.symbol + (map.unit == "1" ? "" : " in " + map.unit) + ", " +
                             to_string(result.shape())},
                 {"Chain", result.chain ? text_in_effect(*result.chain) : ""},
                 {"Exposure", to_string(result.exposure)},
                 {"Assumed", to_string(result.info.assumed)},
                 {"Channel", grey_channel_of(result)},
                 {"Scale", scale_text(stream, result.chain.get())},
                 {"Baseline", traces && traces->taken ? traces->taken->from_picture : ""},
                 {"No baseline", traces ? traces->no_baseline : ""},
                 {"Colours", result.shape().channels == 1 ? colours_text(report) : ""}});
    std::erase_if(rows, [](const auto& row) { return row.second.empty(); });
    for (auto& [name, value] : rows)
        value = one_line(value);
    return rows;
}

// Methods: definitions and sources are quoted from docs/science.md.

namespace {

/// Removes Markdown markup: "[Regions](#regions)" becomes "Regions".
std::string plain(std::string_view text) {
    static const std::regex marks(R"(\]\([^)]*\)|[`*\[\]])"), spaces("\\s+"), ends("^ | $");
    return std::regex_replace(
        std::regex_replace(std::regex_replace(std::string(text), marks, ""), spaces, " "), ends, "");
}

std::string_view section(std::string_view heading) {
    const std::string_view all = science_text();
    const std::string line = "\n## " + std::string(heading) + "\n\n";
    const std::size_t at = all.find(line);
    return at == std::string_view::npos || heading.empty()
               ? std::string_view()
               : all.substr(at + line.size(), all.find("\n## ", at + 1) - at - line.size());
}

/// Text from `begin` to the end of its sentence, after a space; empty if `begin` is missing.
std::string sentence(std::string_view in, std::string_view begin = "") {
    if (in.empty() || in.find(begin) == std::string_view::npos)
        return "";
    in = in.substr(in.find(begin));
    std::size_t end = in.find('.'); // a point within a number or a name does not end it
    while (end < in.size() - 1 && std::isspace(static_cast<unsigned char>(in[end + 1])) == 0)
        end = std::min(in.find('.', end + 1), in.size() - 1);
    return " " + plain(in.substr(0, std::min(end, in.find("\n\n")) + 1));
}

/// The row of the section's table with this word in its first cell; empty if there is none.
std::vector<std::string> row_of(std::string_view in, const std::string& word) {
    const std::regex wanted("\\b" + word + "\\b");
    for (std::size_t at = in.find("\n|"); at != std::string_view::npos; at = in.find("\n|", at + 1)) {
        std::vector<std::string> cells;
        std::string_view line = in.substr(at + 2, in.find('\n', at + 1) - at - 2);
        for (std::size_t bar; (bar = line.find('|')) != std::string_view::npos; line.remove_prefix(bar + 1))
            cells.push_back(plain(line.substr(0, bar)));
        if (cells.size() > 2 && std::regex_search(cells[0], wanted))
            return cells;
    }
    return {};
}

std::string stage_method(const ChainStage& stage) {
    const std::string name(stage.type->name);
    Chain alone;
    alone.add(stage);
    std::string text = name + ": " + std::string(stage.type->doc) + " (" + text_in_effect(alone) + ").";
    if (const auto cells = row_of(section("Contrast"), name); !cells.empty())
        text += sentence(section("Contrast")) + " N samples: " + cells[1] + " (" + cells[2] + ").";
    if (stage.params.table().find("output")) {
        const std::string output = to_string(stage.params.get("output"));
        if (const auto cells = row_of(section("Flow"), output); cells.size() == 4)
            text += " " + output + " = " + cells[1] + (cells[2] == "1" ? "" : ", in " + cells[2]) + " (" +
                    cells[3] + ").";
    }
    return text + sentence(section(stage.type->science));
}

} // namespace

std::vector<std::string> methods(const Report& report) {
    std::vector<std::string> lines;
    if (report.result.chain)
        for (const Chain computed = active(*report.result.chain); const ChainStage& stage : computed.stages())
            lines.push_back(stage_method(stage));
    const std::string_view regions = section("Regions"), traces = section("Traces and their baseline");
    if (report.result.regions) {
        const RegionMean mean = report.result.regions->mean;
        const auto cells = row_of(regions, mean == RegionMean::of_squares    ? "K"
                                           : mean == RegionMean::of_inverses ? "index"
                                                                             : "intensity");
        lines.push_back(
            "Regions:" + sentence(regions) +
            (cells.empty() ? "" : " For " + cells[0] + ": mean = " + cells[1] + ", over " + cells[2] + ".") +
            sentence(regions, "`std` is") + sentence(regions, "`valid` = n"));
    }
    if (report.traces && report.traces->taken)
        lines.push_back("Baseline:" + sentence(traces, "The baseline F₀") + sentence(traces, "ΔF/F₀ ="));
    return lines;
}

// Layout of the PDF.

#ifndef SPECKLESCOPE_HAVE_CAIRO

namespace {
constexpr bool kCanDraw = false;
struct Picture {};
std::vector<Picture> pictures_of(const Report&) { throw RunError("This build cannot draw a report."); }
std::string draw_pdf(const Report&, const std::vector<Picture>&) { return ""; }
std::string write_map(const std::string&, const Report&, const std::vector<Picture>&) { return ""; }
} // namespace

#else

namespace {

constexpr bool kCanDraw = true;
using Align = TextStyle::Align;
constexpr TextStyle kSmall{.size = 7}, kText{.size = 7.5}, kFoot{.size = 6.5, .ink = kGrey};
constexpr TextStyle kWarning{.size = 9, .bold = true, .ink = {0.7, 0.35, 0}};

/// PDF pages, A4 landscape, in points from the upper left. Contents are added from top to bottom.
class Pages final : public Canvas {
public:
    static constexpr double kWidth = 841.89, kHeight = 595.28, kLeft = 40, kWide = kWidth - 2 * kLeft,
                            kBottom = kHeight - kLeft;

    /// The file is appended to `bytes`. `draft`: without images, to count pages.
    Pages(std::string& bytes, std::string title, bool draft)
        : Canvas(cairo_pdf_surface_create_for_stream(&append_to_text, &bytes, kWidth, kHeight),
                 "The pages of the report"),
          title_(std::move(title)), draft_(draft) {
        cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_TITLE, valid_utf8(title_).c_str());
        cairo_pdf_surface_set_metadata(surface(), CAIRO_PDF_METADATA_CREATOR,
                                       "Specklescope " SPECKLESCOPE_VERSION);
    }
    ~Pages() override { cairo_surface_finish(surface()); } // last use of `bytes`
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void picture(ConstHostView rgb, const PaperRect& area) override {
        if (!draft_)
            Canvas::picture(rgb, area);
    }

    double y = kLeft;                       ///< top of the next item
    int count() const { return page_ + 1; } ///< pages so far

    /// Begins another page if there is less space than this; true if it did.
    bool need(double height) {
        if (y + height <= kBottom - 10)
            return false;
        end_page();
        y = kLeft;
        return true;
    }
    void heading(const std::string& text, double room = 40) {
        need(24 + room);
        line(kLeft, y + 8, kWide, text, {.size = 10, .bold = true});
        y += 24;
    }
    double height_of(const std::string& text, const TextStyle& style, double indent) {
        return text.empty()
                   ? 0
                   : pango_layout_get_line_count(wrapped(text, style, indent).get()) * style.size * 1.35;
    }
    void paragraph(const std::string& text, const TextStyle& style, double indent = 0) {
        const Layout made = wrapped(text, style, indent);
        for (int i = 0; i < pango_layout_get_line_count(made.get()) && !text.empty(); ++i) {
            need(style.size * 1.35);
            set(style.ink);
            cairo_move_to(context(), kLeft + indent, y + style.size);
            pango_cairo_show_layout_line(context(), pango_layout_get_line_readonly(made.get(), i));
            y += style.size * 1.35;
        }
    }
    void finish() {
        end_page();
        cairo_surface_finish(surface());
        check();
    }

private:
    Layout wrapped(const std::string& text, const TextStyle& style, double indent) {
        Layout made = layout(text, style);
        pango_layout_set_width(made.get(), static_cast<int>((kWide - indent) * PANGO_SCALE));
        pango_layout_set_wrap(made.get(), PANGO_WRAP_WORD_CHAR);
        return made;
    }
    void end_page() {
        line(kLeft, kBottom + 8, kWide - 80, title_, kFoot);
        line(kLeft + kWide - 80, kBottom + 8, 80, "page " + std::to_string(++page_),
             {.size = kFoot.size, .ink = kGrey, .align = Align::right});
        cairo_show_page(context());
        check();
    }

    std::string title_;
    bool draft_;
    int page_ = 0;
};

std::vector<Region> regions_of_report(const Report& report) {
    const RegionValues* values = report.result.regions.get();
    return values && values->placed->outlines ? regions_of(*values->placed->outlines) : std::vector<Region>();
}

/// Unit, with a "*" if it rests on an assumed exposure.
std::string unit_of(const Report& report) {
    const Result& result = report.result;
    return result.quantity.unit + (rests_on_assumption(result.quantity, result.exposure) ? " *" : "");
}

constexpr double kMap = Pages::kWide * 0.56; ///< width of the map with its colour bar
constexpr double kBarRoom = 62;              ///< for the colour bar

struct Picture {
    RecordedFrame frame;
    Mapping mapping; ///< with a fixed range
    std::string title, unit;
    double um = 0; ///< side of a pixel; 0: unknown
    std::vector<Region> regions{};
    Shape rgb{}; ///< of the drawn colours
    std::vector<std::byte> colours{};
};

constexpr int kMostPixels = 8192; ///< drawn, per side of an image

/// Only every n-th row and column of a very large image is drawn.
int step_of(const Shape& shape) {
    return (std::max(shape.width, shape.height) + kMostPixels - 1) / kMostPixels;
}

/// Place of the image's pixels below its title, for an item at (x, y), at most this wide and high.
PaperRect picture_area(const Shape& shape, const PaperRect& room) {
    const bool bar = shape.channels == 1;
    const double scale =
        std::min((room.width - (bar ? kBarRoom : 0)) / shape.width, room.height / shape.height);
    return {room.x, room.y + (bar ? 24 : 14), shape.width * scale, shape.height * scale};
}

Picture coloured(Picture picture) {
    const Shape& shape = picture.frame.pixels.shape();
    picture.rgb = {shape.width, shape.height, 3, PixelType::u8};
    picture.colours.resize(picture.rgb.bytes());
    color_picture(picture.frame, picture.mapping, HostView(picture.colours.data(), picture.rgb));
    if (const int step = step_of(shape); step > 1) {
        picture.rgb = {shape.width / step, shape.height / step, 3, PixelType::u8};
        auto to = picture.colours.begin();
        for (std::ptrdiff_t row = 0; row < picture.rgb.height; ++row)
            for (std::ptrdiff_t column = 0; column < picture.rgb.width; ++column, to += 3)
                std::copy_n(picture.colours.begin() + 3 * step * (row * shape.width + column), 3, to);
        picture.title += ", every " + std::to_string(step) + "th pixel of each row and column";
    }
    return picture;
}

/// Draws the image with title, outlines, scale bar and colour bar; returns the height.
double draw_picture(Canvas& page, const PaperRect& room, const Picture& picture) {
    const Shape& shape = picture.frame.pixels.shape();
    const PaperRect area = picture_area(shape, room);
    const double scale = area.width / shape.width;
    page.picture({picture.colours.data(), picture.rgb}, area);
    page.line(room.x, room.y, room.width, picture.title, {.size = 8, .bold = true});
    page.frame(area, kGrey);
    page.clip(area);
    for (std::size_t i = 0; i < picture.regions.size(); ++i) {
        const Region& region = picture.regions[i];
        const auto [left, top] =
            draw_outline(page, {area.x, area.y, scale}, region, ink_of(region_colour(region, i)), 1);
        const std::string number = std::to_string(i + 1);
        const double wide = 4.5 * static_cast<double>(number.size()) + 2;
        page.fill({left + 1, top + 1, wide, 8}, kBlack);
        page.line(left + 2, top + 0.5, wide + 4, number, {.size = 7, .bold = true, .ink = {1, 1, 1}});
    }
    page.unclip();
    (void)draw_scale_bar(page, area, picture.um / scale, 7, 1 / scale);
    const Mapping& m = picture.mapping;
    if (shape.channels == 1)
        draw_color_bar(page, {area.x + area.width + 8, area.y, 10, area.height},
                       {m.colormap, exposed({m.low, m.high}, m.exposure_stops),
                        curve_in_effect(m, 1, is_picture(picture.frame.info, picture.frame.quantity)),
                        picture.frame.quantity.symbol, picture.unit},
                       {});
    return area.y + area.height - room.y;
}

/// The map, and the raw frame if there is one.
std::vector<Picture> pictures_of(const Report& report) {
    const Result& result = report.result;
    std::vector<Picture> pictures;
    pictures.push_back(
        coloured({recorded_frame(result, RecordWhat::processed),
                  with_fixed_range(report.mapping, result.image.host()), result.quantity.name,
                  unit_of(report), um_per_px(report.stream, result.chain.get()), regions_of_report(report)}));
    if (!result.raw)
        return pictures;
    RecordedFrame raw = recorded_frame(result, RecordWhat::raw);
    Mapping grey{.colormap = ColorMap::grey};
    grey.low_percentile = 0;
    grey.high_percentile = 100;
    const bool same = !moves_pixels(*result.chain) && result.raw.shape().width == result.shape().width &&
                      result.raw.shape().height == result.shape().height;
    const std::string unit = raw.quantity.unit;
    pictures.push_back(
        coloured({std::move(raw), with_fixed_range(grey, result.raw.host()), "raw frame", unit,
                  um_per_px(report.stream, nullptr), same ? pictures[0].regions : std::vector<Region>()}));
    return pictures;
}

/// Draws the map, and the raw frame to its right.
void draw_pictures(Pages& page, const std::vector<Picture>& pictures, double high) {
    constexpr double kGap = 16;
    double x = Pages::kLeft, wide = kMap, height = 0;
    for (const Picture& picture : pictures) {
        height = std::max(height, draw_picture(page, {x, page.y, wide, high}, picture));
        x += kMap + kGap;
        wide = Pages::kWide - kMap - kGap;
    }
    page.y += height + 10;
}

void draw_table(Pages& page, const Report& report) {
    const RegionTable table = region_table(report, 4);
    if (table.rows.empty())
        return;
    constexpr double kStep = 10.5;
    static constexpr std::array kNames = {"region",      "shape",     "pixels",    "area µm²", "valid",
                                          "infinite",    "undefined", "saturated", "mean",     "std",
                                          "mean of map", "min",       "max",       "F₀",       "ΔF/F₀ %"};
    std::array<double, kNames.size()> widths = {78, 46, 38, 50, 36, 36, 46, 44, 54, 52, 58, 52, 52, 52, 50};
    if (!table.area) // the names use its space
        widths[0] += std::exchange(widths[3], 0);
    const std::size_t count = kNames.size() - (table.baseline ? 0 : 2);
    const auto add_row = [&](const auto& text, bool bold) {
        double x = Pages::kLeft + 16;
        for (std::size_t c = 0; c < count; x += widths[c++])
            if (widths[c] > 0)
                page.line(x, page.y, widths[c] - 4, text(c),
                          {.size = 7, .bold = bold, .align = c < 2 ? Align::left : Align::right});
        page.y += kStep;
    };
    const auto head = [&] {
        add_row([](std::size_t c) { return kNames[c]; }, true);
        page.stroke({{Pages::kLeft, page.y}, {Pages::kLeft + Pages::kWide, page.y}}, false, kGrey, 0.5);
        page.y += 2;
    };
    const std::string unit = unit_of(report);
    page.heading("Regions" + (unit == "1" ? std::string() : ", values in " + unit));
    head();
    const std::vector<Region> regions = regions_of_report(report);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        if (page.need(kStep))
            head();
        if (i < regions.size())
            page.fill({Pages::kLeft, page.y + 1.5, 4, 6}, ink_of(region_colour(regions[i], i)));
        page.line(Pages::kLeft + 5, page.y, 14, std::to_string(i + 1), {.size = 6, .ink = kGrey});
        add_row([&](std::size_t c) { return table.rows[i][c]; }, false);
    }
}

constexpr std::size_t kMostCurves = 40; ///< more cannot be distinguished
constexpr double kPlotHigh = 150;

/// One plot of the values, or of their change from the baseline.
void draw_plot(Pages& page, const Report& report, bool change) {
    const ReportTraces& traces = *report.traces;
    const std::string& symbol = traces.overview.quantity.symbol;
    const std::size_t count = std::min(kMostCurves, traces.curves.size());
    TracePlot plot{.symbol = change ? "Δ" + symbol + "/" + symbol + "₀" : symbol,
                   .unit = change ? "%" : unit_of(report),
                   .from_ns = traces.from_ns,
                   .to_ns = traces.to_ns,
                   .zero_ns = traces.from_ns,
                   .timed = !traces.overview.newest || traces.overview.newest->timed};
    plot.time_title = plot.timed ? "time since the first frame" : "frames since the first";
    plot.low = INFINITY;
    plot.high = -INFINITY;
    for (std::size_t i = 0; i < count; ++i) {
        PlotCurve& curve =
            plot.curves.emplace_back(curve_of(regions_of_report(report), traces.overview.regions[i].name));
        const TraceExtremes ends =
            (change ? traces.compared : traces.extremes)[i].value_or(TraceExtremes{NAN, NAN});
        if (change)
            curve.f0 = traces.baseline[i].value_or(NAN);
        for (const double end : {ends.low, ends.high})
            if (const double v = curve.f0 ? relative_change(end, *curve.f0) : end; std::isfinite(v)) {
                plot.low = std::min(plot.low, v);
                plot.high = std::max(plot.high, v);
            }
        bool broken = false;
        for (TraceColumn column : traces.curves[i]) {
            broken = broken || column.broken;
            if (change && !traces.comparable(column)) {
                broken = true;
                continue;
            }
            column.broken = std::exchange(broken, false);
            curve.columns.push_back(column);
        }
    }
    if (!(plot.low <= plot.high))
        return;
    const double room = std::max((plot.high - plot.low) * 0.05, std::abs(plot.high) * 1e-6 + 1e-12);
    plot.low -= room;
    plot.high += room;
    for (const TimedEvent& event : report.events)
        if (!event.mark.removed)
            plot.events.push_back({event.time_ns, std::to_string(event.mark.number)});
    for (const TraceRestart& restart : traces.overview.restarts)
        if (restart.time_ns > traces.from_ns)
            plot.restarts.push_back({restart.time_ns, restart.what});
    page.y = draw_trace_plot(page, {Pages::kLeft, page.y, Pages::kWide, kPlotHigh}, plot);
}

void draw_traces(Pages& page, const Report& report) {
    if (!report.traces || !report.result.regions)
        return;
    const ReportTraces& traces = *report.traces;
    const std::string all = std::to_string(traces.curves.size());
    page.heading("Traces: mean of each region" +
                     (traces.curves.size() > kMostCurves
                          ? ", the first " + std::to_string(kMostCurves) + " of " + all
                          : ""),
                 kPlotHigh + 54);
    draw_plot(page, report, false);
    if (!traces.no_baseline.empty())
        page.paragraph("ΔF/F₀: " + traces.no_baseline + ".", kSmall);
    if (!traces.taken)
        return;
    page.heading("Change from the baseline, ΔF/F₀", kPlotHigh + 54);
    draw_plot(page, report, true);
    page.paragraph("F₀: " + baseline_text(*traces.taken) + ".", kSmall);
}

} // namespace

namespace {

/// Label and value of each row, all on one page if one has room for them.
void draw_rows(Pages& page, const std::string& title,
               const std::vector<std::pair<std::string, std::string>>& rows) {
    constexpr double kIndent = 84;
    double height = 0;
    for (const auto& row : rows)
        height += page.height_of(row.second, kText, kIndent);
    page.heading(title, height);
    for (const auto& [name, value] : rows) {
        page.need(10.5);
        page.line(Pages::kLeft, page.y, 80, name, {.size = 7.5, .ink = kGrey});
        page.paragraph(value, kText, kIndent);
    }
}

void draw_head(Pages& page, const Report& report) {
    constexpr TextStyle kForm{.size = 8.5};
    const Result& result = report.result;
    page.line(Pages::kLeft, page.y, Pages::kWide, title_of(report), {.size = 14, .bold = true});
    page.y += 22;
    std::string form;
    for (const auto& [name, value] : form_rows(report))
        if (!value.empty() && name != "Remarks")
            form += (form.empty() ? "" : "     ") + name + ": " + one_line(value);
    page.paragraph(form, kForm);
    if (!report.note.empty())
        page.paragraph("Remarks: " + one_line(report.note), kForm);
    page.y += 5;
    if (rests_on_assumption(result.quantity, result.exposure))
        page.paragraph(assumed_text(result.exposure), kWarning);
    if (result.info.assumed.any())
        page.paragraph("Assumed, since the source does not state it: " + to_string(result.info.assumed) + ".",
                       kWarning);
    page.y += 5;
}

/// Returns the number of pages. `high`: the largest height of an image, in points.
int draw_pages(std::string& bytes, const Report& report, const std::vector<Picture>& pictures, double high,
               bool draft = false) {
    Pages page(bytes, title_of(report), draft);
    draw_head(page, report);
    draw_pictures(page, pictures, high);
    draw_table(page, report);
    draw_traces(page, report);
    if (const auto rows = event_rows(report); !rows.empty()) {
        page.heading("Events");
        for (const auto& row : rows)
            page.paragraph(row[0] + "   " + row[1] + "   frame " + row[2] + "   " + row[3], kText);
    }
    auto settings = settings_rows(report);
    for (const auto& told : form_rows(report)) // at the head of the page
        std::erase_if(settings, [&](const auto& row) { return row.first == told.first; });
    draw_rows(page, "Settings", settings);
    page.heading("Methods");
    for (const std::string& text : methods(report)) {
        page.paragraph(text, kText);
        page.y += 3;
    }
    const int count = page.count();
    page.finish();
    return count;
}

/// Writes the map as in the PDF; each of its pixels is a square of whole pixels. Returns the name, which may
/// have got a number.
std::string write_map(const std::string& path, const Report& report, const std::vector<Picture>& pictures) {
    constexpr double kMargin = 8, kHigh = 270, kTitle = 200, kSide = 1200; // kSide: about the larger side
    const Picture& map = pictures[0];
    const Shape& shape = map.frame.pixels.shape();
    const PaperRect size = picture_area(shape, {0, 0, kMap, kHigh});
    const double zoom =
        std::max(1.0, std::round(kSide / std::max(shape.width, shape.height))) / step_of(shape);
    const double scale = zoom * shape.width / size.width; // pixels per point
    const auto whole = [&](double length) { return static_cast<int>(std::ceil(length * scale)); };
    const bool assumed = rests_on_assumption(report.result.quantity, report.result.exposure);
    const double wide = std::max(kTitle, size.width + (shape.channels == 1 ? kBarRoom : 0));
    ImageCanvas canvas(whole(wide) + 2 * whole(kMargin),
                       whole(size.y) + whole(size.height) + whole(assumed ? 14 : 0) + 2 * whole(kMargin),
                       scale);
    canvas.fill({0, 0, canvas.width() / scale, canvas.height() / scale}, {1, 1, 1});
    const double left = whole(kMargin) / scale, top = (whole(size.y) + whole(kMargin)) / scale - size.y;
    const double height = draw_picture(canvas, {left, top, kMap, kHigh}, map);
    if (assumed)
        canvas.line(left, top + height + 4, wide, assumed_text(report.result.exposure),
                    {.size = 6.5, .ink = kWarning.ink});
    FrameRing ring({canvas.width(), canvas.height(), 3, PixelType::u8}, 1, host_memory());
    Result drawn = report.result;
    drawn.image = ring.acquire(std::chrono::seconds(10));
    canvas.read(drawn.image.host());
    RecordOptions options{.path = path, .what = RecordWhat::screen, .mapping = report.mapping};
    options.limits.subject = report.subject;
    options.limits.note = report.note;
    return write_snapshot(drawn, options, report.stream);
}

/// A report of two pages becomes one page if smaller images make it fit.
std::string draw_pdf(const Report& report, const std::vector<Picture>& pictures) {
    constexpr double kHigh = 270;
    const auto pages = [&](double high) {
        std::string draft;
        return draw_pages(draft, report, pictures, high, true);
    };
    constexpr std::array kSmaller = {240, 210, 180, 150, 130};
    const auto* const fits = pages(kHigh) == 2 ? std::find_if(kSmaller.begin(), kSmaller.end(),
                                                              [&](double high) { return pages(high) == 1; })
                                               : kSmaller.end();
    std::string bytes;
    draw_pages(bytes, report, pictures, fits != kSmaller.end() ? *fits : kHigh);
    return bytes;
}

} // namespace

#endif

std::string draw_pdf(const Report& report) { return draw_pdf(report, pictures_of(report)); }

// Files.

namespace {

std::string csv_of(const Report& report) {
    std::string text = "# Specklescope report\n";
    for (const auto& [name, value] : settings_rows(report))
        text += "# " + name + ": " + value + "\n";
    for (const auto& row : event_rows(report))
        text += "# Event " + row[0] + ": " + row[1] + ", frame " + row[2] + ", " + row[3] + "\n";
    text += "region,shape,pixels,area_um2,valid,infinite,undefined,saturated,mean,std,mean_of_map,min,max,"
            "baseline,change_percent\n";
    for (const auto& row : region_table(report).rows)
        for (const std::string& cell : row)
            text += csv_text(cell) + (&cell == &row.back() ? '\n' : ',');
    return text;
}

} // namespace

std::optional<ReportTraces> traces_for_report(TraceHistory& history, const Baseline& baseline,
                                              const MadeWith& with) {
    constexpr int kPlotColumns = 900; // in a plot: finer than the resolution of a printer
    ReportTraces traces;
    traces.overview = history.overview();
    traces.overview.with = with;
    traces.from_ns = traces.overview.first_ns;
    traces.to_ns = traces.overview.last_ns;
    if (traces.overview.regions.empty() || traces.to_ns <= traces.from_ns)
        return std::nullopt;
    traces.curves = history.curves(traces.from_ns, traces.to_ns, kPlotColumns);
    traces.extremes = history.extremes(traces.from_ns, traces.to_ns);
    traces.curves.resize(traces.overview.regions.size()); // a region may have been added in the meantime
    traces.extremes.resize(traces.curves.size());
    bool any = false;
    for (const TraceRegion& region : traces.overview.regions)
        any = traces.baseline.emplace_back(baseline.of(region, traces.overview)).has_value() || any;
    if (any) {
        traces.taken = baseline.taken();
        traces.compared = history.extremes(traces.from_ns, traces.to_ns, traces.taken->with);
        traces.compared.resize(traces.curves.size());
    }
    traces.no_baseline = baseline.changed(traces.overview);
    return traces;
}

bool is_report(const std::string& path) { return lower_ending(path) == ".pdf"; }

void check_report(const std::string& path) {
    if (!is_report(path))
        throw UsageError("'" + path + "' is not a report name; it must end in .pdf.");
    if (!kCanDraw)
        throw UsageError("Reports are not available: built without Pango and Cairo. Install libpango1.0-dev "
                         "and build again.");
}

ReportFiles write_report(const std::string& path, const Report& report) {
    check_report(path);
    if (!report.result.image)
        throw RunError("There is no image yet for the report " + path + "; wait for the first frame.");
    check_folder(path);
    const std::vector<Picture> pictures = pictures_of(report);
    const std::string pdf = draw_pdf(report, pictures), csv = csv_of(report);
    const std::vector<std::string> names = files_of_recording(free_recording_name(path, {}));
    ReportFiles files{names[0], names[1], names[2]};
    UnnamedFile pdf_file(files.pdf), csv_file(files.csv);
    check_made(pdf_file, files.pdf);
    check_made(csv_file, files.csv);
    write_whole(pdf_file, files.pdf, pdf, "report");
    write_whole(csv_file, files.csv, csv, "report");
    files.png = write_map(files.png, report, pictures); // last use of disk space
    files.csv = csv_file.publish();
    files.pdf = pdf_file.publish();
    return files;
}

// Report as a record format: follows the run and is written when the recording ends.

namespace {

/// Without pixels.
Result result_of(const RecordedFrame& frame) {
    Result result;
    result.info = frame.info;
    result.chain = frame.chain;
    result.quantity = frame.quantity;
    result.exposure = frame.exposure;
    result.counts = frame.counts;
    result.regions = frame.values;
    result.warmup = frame.warmup;
    result.to_grey = !frame.channel.empty();
    return result;
}

Report report_of(const RecordedFrame& frame, const RecordOptions& options, const StreamInfo& stream) {
    Report report{.result = result_of(frame),
                  .mapping = options.mapping,
                  .stream = stream,
                  .subject = options.limits.subject,
                  .note = options.limits.note,
                  .form = parse_form(options.form)};
    report.result.image = frame.pixels;
    report.result.raw = frame.raw;
    return report;
}

class ReportWriter final : public LastFrameWriter {
public:
    ReportWriter(const RecordOptions& options, const StreamInfo& stream) : LastFrameWriter(options, stream) {
        check_report(options.path);
        history_.open(stream);
    }
    void write(const RecordedFrame& frame) override {
        LastFrameWriter::write(frame);
        history_.push(result_of(frame));
        ++frames_;
        for (const EventMark& event : frame.events) {
            std::erase_if(events_, [&](const TimedEvent& e) { return e.mark.number == event.number; });
            const std::optional<TraceMoment> newest = history_.overview().newest;
            const std::int64_t shift = newest ? newest->time_ns - newest->capture_ns : 0;
            if (!event.removed)
                events_.push_back({event, event.capture_ns + shift, 0, event.sequence});
        }
    }

private:
    std::string save(const RecordedFrame& last, const FileTotals& totals) override {
        Report report = report_of(last, options_, stream_);
        Baseline baseline;
        if (options_.baseline && last.values)
            baseline.take(history_, *options_.baseline, last.values->placed);
        const MadeWith with = made_with(last);
        report.traces = traces_for_report(history_, baseline, with);
        if (options_.baseline && report.traces)
            report.traces->no_baseline = options_.baseline->misfit(last.pixels.shape(), last.quantity, &with);
        report.events = events_;
        report.frames = std::to_string(frames_) + " followed, " + std::to_string(totals.dropped) +
                        " dropped, " + std::to_string(totals.lost_before) + " lost before";
        return write_report(options_.path, report).pdf;
    }

    TraceHistory history_;
    std::vector<TimedEvent> events_;
    std::uint64_t frames_ = 0;
};

} // namespace

std::unique_ptr<FileWriter> make_report_writer(const RecordedFrame&, const RecordOptions& options,
                                               const StreamInfo& stream) {
    return std::make_unique<ReportWriter>(options, stream);
}

std::string write_report_picture(const RecordedFrame& frame, const FileTotals&, const RecordOptions& options,
                                 const StreamInfo& stream) {
    return write_report(options.path, report_of(frame, options, stream)).pdf;
}

void check_report_of(RecordWhat what) {
    if (what != RecordWhat::processed)
        throw UsageError("A report needs results, not raw frames. Use --report or --record.");
    check_report("report.pdf");
}

} // namespace specklescope
