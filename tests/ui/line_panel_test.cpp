// The panel of a selected line shows the width that --widths writes for the same frame.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/viewer_fixture.hpp"

#include <cmath>
#include <sstream>

namespace specklescope::line_panel_test {

/// A constant image with a vessel 14 px wide across a line, and nothing across another.
constexpr const char* kMake = R"py(
import numpy as np, tifffile
from scipy.special import erf
rng = np.random.default_rng(7)
y, x = np.mgrid[0:96, 0:128].astype(float)
s = (x - 40.3) * 0.8 + (y - 48) * 0.6
vessel = (erf((s + 7) / 1.2) - erf((s - 7) / 1.2)) / 2
picture = (1000 + 600 * vessel + rng.normal(size=s.shape) * 20).astype(np.float32)
tifffile.imwrite("v.tiff", np.stack([picture] * 3), photometric="minisblack")
)py";

constexpr const char* kRegions = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[10,8],[30,27]]},
{"name":"across","shape":"line","points":[[18.3,31.5],[62.3,64.5]]},
{"name":"beside","shape":"line","points":[[80,20],[120,20]]}]})";

class LinePanelTest : public ViewerTest {};

TEST_F(LinePanelTest, TellsTheWidthThatIsWritten) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, kMake)) << test::read_file(folder / "python.log");
    test::write_file(folder / "r.json", kRegions);
    const std::vector<std::string> words = {
        folder / "v.tiff", "--no-remember", "--stage", "none",      "--regions",
        folder / "r.json", "--band",        "9",       "--backend", "cpu"};
    const ChildResult ran = run_program({"run", "v.tiff", "--stage", "none", "--regions", "r.json", "--band",
                                         "9", "--widths", "w.csv", "--quiet", "--backend", "cpu"},
                                        folder.path().string());
    ASSERT_EQ(ran.status, 0) << ran.all();
    double written = NAN;
    std::istringstream table(test::read_file(folder / "w.csv"));
    for (std::string line; std::getline(table, line);)
        if (const std::size_t at = line.find(",across,"); at != std::string::npos)
            written = std::stod(line.substr(at + 8));
    ASSERT_NEAR(written, 14, 0.3);

    Viewer viewer(*desktop_, folder_, with(words));
    ASSERT_TRUE(viewer.shows_picture()) << viewer.log();
    ASSERT_TRUE(viewer.until([&] { return viewer.has_widget("region.row.1"); })) << viewer.log();
    EXPECT_EQ(viewer.text("line.text"), "");
    viewer.click("region.row.1");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("line.name") == "across"; })) << viewer.log();
    EXPECT_EQ(viewer.number("line.samples"), 56);
    EXPECT_NEAR(viewer.number("line.width"), written, 1e-9);
    EXPECT_EQ(viewer.text("line.text").rfind("Width of the vessel 1", 0), 0U) << viewer.text("line.text");
    EXPECT_TRUE(viewer.until([&] { return viewer.has_widget("region.profile"); }));
    viewer.click("region.row.2");
    ASSERT_TRUE(viewer.until([&] { return viewer.text("line.name") == "beside"; })) << viewer.log();
    EXPECT_EQ(viewer.text("line.text"), "Width of a vessel: none, no vessel.");
    viewer.click("region.row.0");
    EXPECT_TRUE(viewer.until([&] { return viewer.text("line.text").empty(); }));
    EXPECT_EQ(viewer.quit(), 0) << viewer.log();
}

} // namespace specklescope::line_panel_test
