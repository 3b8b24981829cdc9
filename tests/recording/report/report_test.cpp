// A report compared with independent computations: numpy on the recorded map, a PDF reader, the snapshot of
// the same frame.
#include "analysis/region.hpp"
#include "base/error.hpp"
#include "have_cairo.hpp"
#include "recording/report/report.hpp"
#include "tests/recording/record_helpers.hpp"
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/nightly.hpp"

namespace specklescope::report_test {

constexpr const char* kRegions =
    R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},)"
    R"({"name":"<b>a & b</b>, \"µ\" %s","shape":"rectangle","points":[[40,5],[59,40]]},)"
    R"({"name":"one","shape":"rectangle","points":[[3,3],[3,3]]}]})";

class ReportTest : public testing::Test {
protected:
    ReportTest() { write_text(folder_ / "r.json", kRegions); }
    ChildResult run(const std::vector<std::string>& more) const {
        std::vector<std::string> words = {"run",      "synthetic:vessels?width=96&height=64&live=false",
                                          "--frames", "12",
                                          "--stage",  "speckle:radius=2,output=sfi"};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words, folder_.path().string());
    }
    std::string text_of(const std::string& pdf) const {
        return run_command("pdftotext -layout '" + (folder_ / pdf) + "' - 2>&1");
    }
    TemporaryFolder folder_;
};

#ifdef SPECKLESCOPE_HAVE_CAIRO
TEST_F(ReportTest, EveryNumberIsThatOfTheTableAndOfNumpy) {
    NEEDS_AT_NIGHT("pdftotext");
    const ChildResult made =
        run({"--regions", "r.json", "--report", "out.pdf", "--record", "map.tiff", "--snapshot", "shown.png",
             "--um-per-px", "2.5", "--stage", "downsample:factor=2,bypass=true", "--subject",
             "mouse <7> & \"co\" %n µ", "--note", "left hemisphere"});
    ASSERT_EQ(made.status, 0) << made.all();
    for (const char* name : {"out.pdf", "out.png", "out.csv"})
        EXPECT_TRUE(fs::exists(folder_ / name)) << name;
    const std::string text = text_of("out.pdf");
    write_text(folder_ / "out.txt", text);
    ASSERT_TRUE(test::python(folder_, R"(
import csv, json, math
import numpy, tifffile
page = tifffile.imread("map.tiff")[-1].astype(float)
regions = json.load(open("r.json"))["regions"]
rows = list(csv.DictReader(line for line in open("out.csv", encoding="utf-8") if not line.startswith("# ")))
text = [" ".join(line.split()) for line in open("out.txt", encoding="utf-8")]
assert len(rows) == len(regions) == 3, rows
for number, (region, row) in enumerate(zip(regions, rows), 1):
    assert row["region"] == region["name"], row
    (x0, y0), (x1, y1) = region["points"]
    values = page[y0:y1 + 1, x0:x1 + 1].ravel()
    finite = values[numpy.isfinite(values)]
    assert int(row["pixels"]) == values.size and int(row["valid"]) == finite.size, row
    wanted = {"mean": 1 / numpy.mean(1 / values[~numpy.isnan(values)]), "mean_of_map": finite.mean(),
              "std": finite.std(ddof=1) if finite.size > 1 else math.nan, "min": finite.min(), "max": finite.max()}
    for key, value in wanted.items():
        if math.isnan(value):
            assert row[key] == "", (key, row)
        else:
            assert abs(float(row[key]) - value) <= 1e-6 * abs(value), (key, row[key], value)
    assert float(row["area_um2"]) == 6.25 * values.size, row
    cells = [row[key] for key in ("shape", "pixels", "area_um2", "valid", "infinite", "undefined", "saturated", "mean", "std",
                                  "mean_of_map", "min", "max") if row[key] != ""]
    cells = cells[:1] + ["%.7g" % float("%.3e" % float(cell)) if "." in cell else cell for cell in cells[1:]]
    assert any(line.startswith(str(number) + " ") and line.endswith(" ".join(cells)) for line in text), (cells, text)
)")) << read_text(folder_ / "python.log")
     << text;
    EXPECT_EQ(text.find("binning"), std::string::npos) << "a bypassed stage has no method: " << text;
    for (const char* part : {"2.5 µm per pixel", " 50 µm", "mouse <7> & \"co\" %n µ", "left hemisphere",
                             "<b>a & b</b>, \"µ\" %s", "Traces", "Settings", "Methods", "speckle flow index",
                             "1/(2·T·K²)", "Yang 2011, eq. 3"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    for (const char* part : {"Baseline", "Events"}) // the run has none
        EXPECT_EQ(text.find(part), std::string::npos) << part;
    // The image equals the snapshot, in the PDF and, enlarged and with its marks, in the PNG.
    ASSERT_TRUE(test::python(folder_, R"(
import glob, subprocess
import numpy
from PIL import Image
shown = numpy.asarray(Image.open("shown.png"))
assert shown.shape == (64, 96, 3), shown.shape
drawn = numpy.asarray(Image.open("out.png").convert("RGB"))
assert max(drawn.shape[:2]) >= 1000, drawn.shape
for zoom in range(32, 1, -1):  # a part without marks
    ys, xs = numpy.nonzero((drawn[:-16 * zoom, :-16 * zoom] == shown[8, 76]).all(2))
    for y, x in numpy.ndindex(8, 8):
        keep = (drawn[ys + y * zoom, xs + x * zoom] == shown[8 + y, 76 + x]).all(1)
        ys, xs = ys[keep], xs[keep]
    if len(ys) == zoom * zoom:
        break
assert len(ys) == zoom * zoom, (len(ys), zoom)
top, left = ys.min() - 8 * zoom, xs.min() - 76 * zoom
held = drawn[top:top + 64 * zoom, left:left + 96 * zoom]
assert (held == shown.repeat(zoom, 0).repeat(zoom, 1)).all(2).mean() > 0.9, "all but the marks"
bars = drawn[top:top + 64 * zoom, left + 96 * zoom:]
assert max(len(numpy.unique(bars[:, x], axis=0)) for x in range(bars.shape[1])) > 200, "no colour bar"
low = (numpy.abs(held[-16 * zoom:, :40 * zoom].astype(int) - (235, 240, 245)) < 3).all(2)
runs = [len(run) for row in low for run in "".join(" #"[p] for p in row.astype(int)).split()]
assert abs(max(runs) / zoom - 50 / 2.5) < 0.2, max(runs) / zoom  # 50 µm
subprocess.run(["pdfimages", "-png", "out.pdf", "held"], check=True)
held = [numpy.asarray(Image.open(name).convert("RGB")) for name in sorted(glob.glob("held-*.png"))]
assert any(picture.shape == shown.shape and (picture == shown).all() for picture in held), [p.shape for p in held]
)")) << read_text(folder_ / "python.log");
}

TEST_F(ReportTest, WithoutRegionsTheirPartIsLeftOut) {
    NEEDS_AT_NIGHT("pdftotext");
    const ChildResult made = run({"--report", "out.pdf"});
    ASSERT_EQ(made.status, 0) << made.all();
    const std::string text = text_of("out.pdf");
    for (const char* part : {"Regions", "Traces", "Baseline"})
        EXPECT_EQ(text.find(part), std::string::npos) << part << "\n" << text;
    EXPECT_NE(text.find("Settings"), std::string::npos) << text;
    EXPECT_NE(text.find("20 px"), std::string::npos) << "the scale bar, without a pixel size: " << text;
    const std::string table = read_text(folder_ / "out.csv");
    EXPECT_NE(table.find("\nregion,shape,pixels,"), std::string::npos) << table;
    EXPECT_TRUE(table.ends_with("baseline,change_percent\n")) << table;
}

TEST_F(ReportTest, NothingIsReplacedAndAllThreeShareAName) {
    write_text(folder_ / "out.csv", "mine");
    const ChildResult made = run({"--report", "out.pdf"});
    ASSERT_EQ(made.status, 0) << made.all();
    EXPECT_EQ(read_text(folder_ / "out.csv"), "mine");
    EXPECT_EQ(folder_.names(),
              (std::vector<std::string>{"out-1.csv", "out-1.pdf", "out-1.png", "out.csv", "r.json"}));
}

TEST_F(ReportTest, WhatCannotBeIsOneSentence) {
    for (const auto& [name, status, sentence] :
         {std::tuple{"out.txt", 2, "must end in .pdf"}, {"none/out.pdf", 1, "cannot be written"}}) {
        const ChildResult made = run({"--report", name});
        EXPECT_EQ(made.status, status) << made.all();
        EXPECT_NE(made.err.find(sentence), std::string::npos) << made.all();
        EXPECT_EQ(std::count(made.err.begin(), made.err.end(), '\n'), 1) << made.all();
    }
    const ChildResult raw = run({"--record-raw", "out.pdf"});
    EXPECT_NE(raw.status, 0) << raw.all();
    EXPECT_EQ(folder_.names(), std::vector<std::string>{"r.json"});
}
#endif

TEST_F(ReportTest, AFullDiskLeavesNothingBehindAndNothingOfOthersIsRemoved) {
    const Shape shape{48, 32, 1, PixelType::f32};
    Maker maker(shape);
    Report report;
    report.result = maker.make(3);
    report.stream = stream_of(shape);
    for (const char* name : {"last.pdf", "last.png"}) {
        write_text(folder_ / name, "mine");
        const auto recorder = make_recorder({.path = folder_ / name});
        recorder->open(stream_of(shape));
        recorder->push(maker.make(1), true);
        const FileSizeLimit none(64);
        recorder->close();
        EXPECT_NE(recorder->status().error, "") << name;
    }
    try {
        check_report("out.pdf");
        const FileSizeLimit none(64);
        write_report(folder_ / "out.pdf", report);
        ADD_FAILURE() << "it was written";
    } catch (const UsageError&) { // built without Pango
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find("out.p"), std::string::npos) << error.what();
    }
    EXPECT_EQ(read_text(folder_ / "last.pdf"), "mine");
    EXPECT_EQ(read_text(folder_ / "last.png"), "mine");
    EXPECT_EQ(folder_.names(), (std::vector<std::string>{"last.pdf", "last.png", "r.json"}));
}

/// Every sentence on methods is in docs/science.md or in the declaration of its stage.
TEST(ReportMethods, QuoteThePageOfScience) {
    const std::string page = read_text(test::source_folder() + "/docs/science.md");
    const auto stands = [&](const std::string& formula) { return page.find(formula) != std::string::npos; };
    Report report;
    for (const auto& [text, formulas] :
         std::initializer_list<std::pair<const char*, std::vector<std::string>>>{
             {"speckle:output=sfi", {"K = s/⟨I⟩", "1/(2·T·K²), the speckle flow index", "Yang 2011, eq. 3"}},
             {"temporal:output=tau",
              {"the last n frames of one pixel", "2·T·K², the correlation time", "Cheng, Duong 2007"}},
             {"spatiotemporal:output=bfi", {"Qiu 2010", "1/K²"}},
             {"flow:output=index", {"1/(2·T·K²), the speckle flow index"}},
             {"average", {"is the mean of each sample over time"}},
             {"background", {"⟨flat − dark⟩"}},
             {"equalize", {"becomes its rank"}},
             {"convolve", {"a convolution and not a correlation"}}}) {
        auto chain = std::make_shared<Chain>();
        chain->add(text);
        report.result.chain = chain;
        const std::vector<std::string> lines = methods(report);
        ASSERT_EQ(lines.size(), 1U) << text;
        for (const std::string& formula : formulas) {
            EXPECT_TRUE(stands(formula)) << formula;
            EXPECT_NE(lines[0].find(formula), std::string::npos) << formula << " in " << lines[0];
        }
    }
    for (const StageType& type : stage_types()) { // each has a text without Markdown markup
        auto chain = std::make_shared<Chain>();
        chain->add(type.name);
        report.result.chain = chain;
        const std::vector<std::string> lines = methods(report);
        EXPECT_TRUE(lines[0].starts_with(std::string(type.name) + ": " + std::string(type.doc))) << lines[0];
        EXPECT_EQ(lines[0].find_first_of("`*"), std::string::npos) << lines[0];
    }
    report.result.chain.reset();
    for (const auto& [mean, formula] : {std::pair{RegionMean::of_squares, "√⟨K²⟩"},
                                        {RegionMean::of_inverses, "c/⟨K²⟩ = (n + m)/Σ(1/f)"},
                                        {RegionMean::plain, "⟨value⟩"}}) {
        auto values = std::make_shared<RegionValues>();
        values->mean = mean;
        report.result.regions = values;
        EXPECT_NE(methods(report).at(0).find("mean = " + std::string(formula)), std::string::npos)
            << methods(report).at(0);
        EXPECT_NE(methods(report).at(0).find("√(Σ(v − ⟨v⟩)²/(n − 1))"), std::string::npos);
    }
    report.traces.emplace().taken.emplace();
    EXPECT_NE(methods(report).at(1).find("ΔF/F₀ = 100·(F/F₀ − 1) %"), std::string::npos)
        << methods(report).at(1);
}

} // namespace specklescope::report_test
