// Drawing of a report, read from the PDF's operators: axes, curves and marks are at the positions of their
// numbers.
#include "analysis/region.hpp"
#include "have_cairo.hpp"
#include "recording/report/report.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/recording/storage_calls.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/nightly.hpp"

namespace specklescope::drawing_test {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Three regions, whose traces have another order; an event at 1.5 s, a removed one, and another source at 3
/// s.
class ReportDrawing : public testing::Test {
protected:
    ReportDrawing() {
        report_.result = maker_.make(3);
        report_.result.quantity = {"speckle flow index", "SFI", "1/s", Measure::flow};
        report_.stream = stream_of(kShape);
        auto values = std::make_shared<RegionValues>();
        std::vector<Region> regions;
        for (const auto& [name, colour] :
             {std::pair{"rowone", "#ff8000"}, {"rowtwo", "#0080ff"}, {"rowthree", "#40c020"}})
            regions.push_back({name, RegionShape::rectangle, {{4, 4}, {30, 20}}, colour, false});
        values->placed = place_regions(make_outlines(std::move(regions)), kShape, 1);
        values->statistics.resize(3);
        report_.result.regions = values;
        ReportTraces& traces = report_.traces.emplace();
        traces.overview.quantity = report_.result.quantity;
        traces.overview.settings.push_back({1, 0, {}});
        traces.to_ns = 4 * kSecond;
        add("rowthree", {1000, 1004, 1001, 1003, 1000});
        add("rowone", {1002.5, 1002, 1001.25, 1002.25, 1003.5});
        add("rowtwo", {1001, 1001, 1000.5, 1001, 1002});
        traces.overview.restarts.push_back({3 * kSecond, "another source"});
        report_.events = {
            {.mark = {.number = 7, .sequence = 50, .capture_ns = 3 * kSecond / 2, .label = "stimulus"},
             .time_ns = 3 * kSecond / 2},
            {.mark =
                 {.number = 8, .sequence = 60, .capture_ns = 5 * kSecond / 2, .label = {}, .removed = true},
             .time_ns = 5 * kSecond / 2}};
    }
    /// One value per second.
    void add(const std::string& name, const std::vector<double>& values) {
        ReportTraces& traces = *report_.traces;
        traces.overview.regions.push_back({.id = traces.overview.regions.size() + 1, .name = name});
        std::vector<TraceColumn>& curve = traces.curves.emplace_back();
        for (std::size_t i = 0; i < values.size(); ++i)
            curve.push_back({static_cast<std::int64_t>(i) * kSecond, values[i], values[i], false, 1});
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        traces.extremes.emplace_back(TraceExtremes{*low, *high});
        traces.compared = traces.extremes;
        traces.baseline.emplace_back();
    }

    static constexpr Shape kShape{64, 48, 1, PixelType::f32};
    Maker maker_{kShape};
    Report report_;
    TemporaryFolder folder_;
};

#ifdef SPECKLESCOPE_HAVE_CAIRO

/// Strokes, rectangles and words of each page; lengths in points from the upper left.
constexpr const char* kReader = R"py(
import re, subprocess, zlib

UPSIDE_DOWN = r"^1 0 0 -1 0 [\d.]+ cm"

class Page:
    def __init__(self, content):
        self.strokes, self.frames, self.fills, self.words, self.dashed = [], [], [], [], []
        content = re.sub(r"BT\n.*?\nET(?=\s)", " ", content, flags=re.S)
        content = re.sub(UPSIDE_DOWN, "", content, count=1)  # from here on y grows downwards
        operands, path, boxes, pen, brush, dashed = [], [], [], None, None, False
        for token in content.split():
            if re.match(r"[-+.\d/\[(]|.*\]$", token):
                operands.append(token)
                continue
            numbers = [float(o) for o in re.findall(r"[-+]?\d*\.?\d+", " ".join(operands))]
            operands = []
            if token == "d":
                dashed = len(numbers) > 1
            elif token == "RG":
                pen = numbers[-3:]
            elif token == "rg":
                brush = numbers[-3:]
            elif token in ("m", "l"):
                path.append(tuple(numbers[-2:]))
            elif token == "re":
                boxes.append(tuple(numbers[-4:]))
            elif token in ("S", "f", "f*", "n"):
                if token == "S" and path:
                    self.strokes.append((path, pen))
                    self.dashed += [path] if dashed else []
                if token == "S":
                    self.frames += boxes
                if token == "f":
                    self.fills += [(box, brush) for box in boxes]
                path, boxes = [], []

def pages(name):
    data = open(name, "rb").read()
    found = []
    for at in re.finditer(rb"[^d]stream\r?\n", data):
        try:
            text = zlib.decompressobj().decompress(data[at.end():])
        except zlib.error:
            continue
        if re.match(UPSIDE_DOWN, text.decode("latin1")):
            found.append(Page(text.decode("latin1")))
    html = subprocess.run(["pdftotext", "-bbox", name, "-"], check=True, capture_output=True,
                          text=True).stdout
    of_pages = html.split("<page ")[1:]
    assert len(found) == len(of_pages) > 0, f"pages as cairo draws them: {len(found)} of {len(of_pages)}"
    word = re.compile(r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)</word>')
    for page, text in zip(found, of_pages):
        page.words = [(tuple(map(float, m.groups()[:4])), m.group(5)) for m in word.finditer(text)]
    return found

def near(a, b, room=0.05):
    return abs(a - b) <= room

class Plot:
    """An axis is what its labels say: value -> place, from the outermost; the others lie on the same line."""
    def __init__(self, page, frame):
        self.page = page
        self.left, self.top, width, height = frame
        self.right, self.bottom = self.left + width, self.top + height
        lines = sorted({p[0][1] for p, _ in page.strokes if len(p) == 2 and near(p[0][0], self.left)
                        and near(p[1][0], self.right) and near(p[0][1], p[1][1]) and self.inside(p)})
        labels = sorted((((b[1] + b[3]) / 2, number(t)) for b, t in page.words if b[2] <= self.left
                         and self.top - 5 <= (b[1] + b[3]) / 2 <= self.bottom + 5), key=lambda x: x[0])
        self.y = self.axis(lines, labels)
        ticks = sorted(p[0][0] for p, _ in page.strokes if len(p) == 2 and near(p[0][0], p[1][0])
                       and near(p[0][1], self.bottom) and self.bottom + 1 < p[1][1] < self.bottom + 8)
        below = sorted(((b[0] + b[2]) / 2, number(t)) for b, t in page.words
                       if self.bottom < b[1] and b[3] < self.bottom + 14)
        self.x = self.axis(ticks, below)

    def inside(self, points):
        return all(self.left - 0.05 <= x <= self.right + 0.05 and self.top - 0.05 <= y <= self.bottom + 0.05
                   for x, y in points)

    @staticmethod
    def axis(lines, labels):
        assert len(lines) == len(labels) >= 3, (lines, labels)
        assert all(near(line, at, 1) for line, (at, _) in zip(lines, labels)), (lines, labels)
        (a, u), (b, v) = (lines[0], labels[0][1]), (lines[-1], labels[-1][1])
        place = lambda value: a + (value - u) * (b - a) / (v - u)
        assert all(near(place(value), line) for line, (_, value) in zip(lines, labels)), (lines, labels)
        return place

    def upright(self, seconds):
        return sorted((min(p[0][1], p[1][1]), max(p[0][1], p[1][1])) for p, _ in self.page.strokes
                      if len(p) == 2 and near(p[0][0], p[1][0]) and near(p[0][0], self.x(seconds))
                      and max(p[0][1], p[1][1]) <= self.bottom + 0.05)

    def check_curves(self, curves):
        """{(red, green, blue): [value each second]}, and nothing else."""
        drawn = [(p, pen) for p, pen in self.page.strokes if len(p) > 2 and self.inside(p)]
        assert len(drawn) == len(curves), (len(drawn), len(curves))
        for colour, values in curves.items():
            ours = [p for p, pen in drawn if all(near(a, 0.75 * b / 255, 0.002) for a, b in zip(pen, colour))]
            assert len(ours) == 1 and len(ours[0]) == len(values), (colour, drawn)
            for second, (value, (x, y)) in enumerate(zip(values, ours[0])):
                assert near(x, self.x(second)) and near(y, self.y(value)), (second, value, (x, y))
        # They do not touch the frame, and leave most of it to themselves.
        high = self.y(max(max(v) for v in curves.values()))
        low = self.y(min(min(v) for v in curves.values()))
        assert self.top + 1 < high < low < self.bottom - 1, (high, low)
        assert low - high > 0.8 * (self.bottom - self.top), (high, low)

def number(text):
    return float(text.replace("\u2212", "-"))

def plots(found):
    return [Plot(page, frame) for page in found for frame in page.frames if frame[2] > 600]
)py";

constexpr const char* kCurves = R"py(
THREE, ONE, TWO = (0x40, 0xc0, 0x20), (0xff, 0x80, 0x00), (0x00, 0x80, 0xff)
curves = {THREE: [1000, 1004, 1001, 1003, 1000], ONE: [1002.5, 1002, 1001.25, 1002.25, 1003.5],
          TWO: [1001, 1001, 1000.5, 1001, 1002]}
found = pages("out.pdf")
plot, = plots(found)[:1]
plot.check_curves(curves)
)py";

TEST_F(ReportDrawing, CurvesAndEventsLieWhereTheAxesSay) {
    NEEDS_AT_NIGHT("pdftotext");
    test::write_file(folder_ / "out.pdf", draw_pdf(report_));
    EXPECT_TRUE(test::python(folder_, std::string(kReader) + kCurves + R"py(
assert len(plots(found)) == 1
(top, bottom), = plot.upright(1.5)
assert near(top, plot.top) and near(bottom, plot.bottom), "an event is a line from the top to the bottom"
assert plot.upright(2.5) == [], "one that was taken back is not there"
(top, bottom), = plot.upright(3)
assert near(top, plot.top) and near(bottom, plot.bottom)
assert [len(p) == 2 and near(p[0][0], plot.x(3)) for p in plot.page.dashed] == [True], "only the restart"
beside = [b for b, t in plot.page.words if t == "7" and plot.top <= b[1] < plot.top + 4]
assert any(plot.x(1.5) < b[0] < plot.x(1.5) + 5 for b in beside), beside
words = " ".join(t for page in found for _, t in page.words)
assert " 7 1.500 s frame 50 stimulus " in words, words
assert "frame 60" not in words
)py")) << test::read_file(folder_ / "python.log");
}

/// A region without F₀ has no curve there.
TEST_F(ReportDrawing, TheChangeIsDrawnInPerCentOfTheBaseline) {
    NEEDS_AT_NIGHT("pdftotext");
    report_.traces->baseline = {500.0, 1001.0, std::nullopt};
    report_.traces->taken.emplace().frames = 12;
    test::write_file(folder_ / "out.pdf", draw_pdf(report_));
    EXPECT_TRUE(test::python(folder_, std::string(kReader) + kCurves + R"py(
absolute, change = plots(found)
change.check_curves({THREE: [100 * (v / 500 - 1) for v in curves[THREE]],
                     ONE: [100 * (v / 1001 - 1) for v in curves[ONE]]})
)py")) << test::read_file(folder_ / "python.log");
}

TEST_F(ReportDrawing, EachRowOfTheTableHasTheColourOfItsRegion) {
    NEEDS_AT_NIGHT("pdftotext");
    test::write_file(folder_ / "out.pdf", draw_pdf(report_));
    EXPECT_TRUE(test::python(folder_, std::string(kReader) + R"py(
page = pages("out.pdf")[0]
rows = {t: b for b, t in page.words if t.startswith("row")}
for name, colour in ("rowone", (255, 128, 0)), ("rowtwo", (0, 128, 255)), ("rowthree", (64, 192, 32)):
    left, top, right, bottom = rows[name]
    marks = [box for box, brush in page.fills if all(near(a, b / 255, 0.002) for a, b in zip(brush, colour))]
    (x, y, width, height), = marks
    assert x + width < left and width > 2 and height > 2, (x, width, left)
    assert top <= y and y + height <= bottom, "it is no higher and no lower than its line"
    assert near(y + height / 2, (top + bottom) / 2, 1), (y + height / 2, (top + bottom) / 2)
)py")) << test::read_file(folder_ / "python.log");
}

TEST_F(ReportDrawing, FitsOnOnePageWithSmallerImages) {
    NEEDS_AT_NIGHT("pdftotext");
    Report without_traces = report_;
    without_traces.traces.reset();
    without_traces.events.clear();
    test::write_file(folder_ / "short.pdf", draw_pdf(without_traces));
    test::write_file(folder_ / "long.pdf", draw_pdf(report_));
    EXPECT_TRUE(test::python(folder_, std::string(kReader) + R"py(
assert len(pages("short.pdf")) == 1
assert len(pages("long.pdf")) == 2, "traces do not fit as well"
)py")) << test::read_file(folder_ / "python.log");
}

/// Cairo calls back for each part of the file, and exceptions must not pass through it.
TEST_F(ReportDrawing, WithoutMemoryForTheFileIsAnError) {
    report_.mapping.automatic = false; // percentiles need memory too
    report_.result.raw = {};
    EXPECT_GT(draw_pdf(report_).size(), 10000U) << "more than the pixels need";
    if (!test::memory_can_be_little())
        GTEST_SKIP() << "a sanitizer has its own operator new";
    const test::LittleMemory none(10000);
    EXPECT_THROW((void)draw_pdf(report_), RunError);
}

#endif

TEST(ReportForm, IsReadAsItIsWritten) {
    const ReportForm read = parse_form(" Operator =A. B. ;Ward=;; =lost; Room");
    EXPECT_EQ(read, (ReportForm{{"Operator", "A. B."}, {"Ward", ""}, {"Room", ""}}));
    EXPECT_EQ(parse_form(form_text(read)), read);
    EXPECT_EQ(parse_form(form_text({{"Note", "a; b=c"}})), (ReportForm{{"Note", "a, b=c"}}));
}

TEST_F(ReportDrawing, TheFormIsAtTheHeadOfTheSettings) {
    report_.subject = "mouse 7";
    report_.note = "left";
    report_.form = {{"Operator", "A. B."}, {"Procedure", ""}};
    const auto rows = settings_rows(report_);
    ASSERT_GE(rows.size(), 4U);
    EXPECT_EQ(rows[0], (std::pair<std::string, std::string>("Subject", "mouse 7")));
    EXPECT_EQ(rows[1].first, "Date");
    EXPECT_EQ(rows[2], (std::pair<std::string, std::string>("Operator", "A. B.")));
    EXPECT_EQ(rows[3], (std::pair<std::string, std::string>("Remarks", "left")))
        << "an empty field is left out";
}

TEST_F(ReportDrawing, OfABaselineThatWasLetGoNothingIsSaid) {
    NEEDS_AT_NIGHT("pdftotext");
    const auto told = [&] {
        for (const auto& [what, value] : settings_rows(report_))
            if (what == "Baseline")
                return value;
        return std::string();
    };
    EXPECT_EQ(told(), "");
    report_.traces->taken.emplace().from_picture = "rest.npy";
    EXPECT_EQ(told(), "rest.npy");
    report_.traces->taken.reset();
    EXPECT_EQ(told(), "");
    EXPECT_EQ(region_table(report_).baseline, false);
}

} // namespace specklescope::drawing_test
