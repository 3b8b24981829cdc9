// Pixel size in TIFF files of other programs: words and tags that are used.
#include "files/description_text.hpp"
#include "files/image_file.hpp"
#include "files/recorded.hpp"
#include "tests/support/file_tools.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace specklescope::file_scale_test {

std::string imagej(const std::string& unit) {
    return "ImageJ=1.54f\nimages=3\nunit=" + unit + "\nspacing=1.0\nloop=false\n";
}

TEST(FileScale, ImageJsUnitsAreLengths) {
    const std::vector<std::pair<std::string, double>> units = {
        {"micron", 1},   {"microns", 1},   {"um", 1},        {"\xC2\xB5m", 1}, {"\xB5m", 1},
        {"\\u00B5m", 1}, {"\xCE\xBCm", 1}, {"nm", 1e-3},     {"mm", 1e3},      {"cm", 1e4},
        {"m", 1e6},      {"inch", 25400},  {" micron \r", 1}};
    for (const auto& [unit, um] : units) {
        const FileScale scale = tiff_scale(imagej(unit), {400, 400, 1});
        EXPECT_DOUBLE_EQ(scale.um_per_px, um / 400) << unit;
        EXPECT_EQ(scale.refused, "") << unit;
    }
    EXPECT_EQ(tiff_scale(imagej("micron"), {0.4, 0.4, 0}).by, "ImageJ's unit micron");
    // Without a unit, or in pixels, the size is unknown; units that are no lengths are refused by name.
    for (const char* none : {"pixel", "pixels", ""})
        EXPECT_EQ(tiff_scale(imagej(none), {400, 400, 3}).um_per_px, 0) << none;
    const FileScale strange = tiff_scale(imagej("furlong"), {400, 400, 1});
    EXPECT_EQ(strange.um_per_px, 0);
    EXPECT_NE(strange.refused.find("'furlong'"), std::string::npos) << strange.refused;
    EXPECT_EQ(tiff_scale("ImageJ=1.54f\nimages=3\n", {4000, 4000, 3}).um_per_px, 2.5) << "by the tags";
}

TEST(FileScale, RecordedSizesMustBePlausible) {
    for (const auto& [said, taken] : std::vector<std::pair<std::string, double>>{
             {"2.5", 2.5}, {"1e6", 1e6}, {"1.1e6", 0}, {"0", 0}, {"-2.5", 0}, {"null", 0}, {"\"2.5\"", 0}}) {
        RecordedText recorded;
        ASSERT_TRUE(recorded.begin(R"({"program": "Specklescope 0.1", "content": "raw", "um_per_px": )" +
                                   said + "}"));
        EXPECT_EQ(recorded.now().um_per_px, taken) << said;
    }
}

TEST(FileScale, ReadsOmeXmlWithUnits) {
    const auto ome = [](const std::string& attributes) {
        return tiff_scale("<?xml version=\"1.0\"?><!-- Pixels --><OME xmlns=\"x\"><Image ID=\"Image:0\" "
                          "Name=\"Pixels PhysicalSizeX='9'\"><Pixels ID=\"Pixels:0\" " +
                              attributes + " SizeX=\"4\"><Channel/></Pixels></Image></OME>",
                          {72, 72, 2});
    };
    EXPECT_EQ(ome("PhysicalSizeX=\"0.65\" PhysicalSizeY=\"0.65\"").um_per_px, 0.65);
    EXPECT_EQ(ome("PhysicalSizeX='650' PhysicalSizeXUnit='nm' PhysicalSizeY='0.65'").um_per_px, 0.65);
    for (const char* micro : {"\xC2\xB5m", "&#181;m", "&#xB5;m", "um"}) {
        const std::string unit = micro;
        EXPECT_EQ(ome("PhysicalSizeX=\"2.5\" PhysicalSizeXUnit=\"" + unit +
                      "\" PhysicalSizeY=\"2.5\" PhysicalSizeYUnit=\"" + unit + "\"")
                      .um_per_px,
                  2.5)
            << unit;
    }
    EXPECT_DOUBLE_EQ(
        ome("PhysicalSizeX=\"1e-2\" PhysicalSizeXUnit=\"mm\" PhysicalSizeY=\"10\" PhysicalSizeYUnit=\"um\"")
            .um_per_px,
        10);
    for (const char* none :
         {"", "PhysicalSizeX=\"2\"", "PhysicalSizeX=\"-2\" PhysicalSizeY=\"-2\"",
          "PhysicalSizeX=\"x\" PhysicalSizeY=\"x\"", "PhysicalSizeX=\"nan\" PhysicalSizeY=\"nan\"",
          "PhysicalSizeX=\"2\" PhysicalSizeXUnit=\"pixel\" PhysicalSizeY=\"2\""})
        EXPECT_EQ(ome(none).um_per_px, 0) << none;
    EXPECT_NE(ome("PhysicalSizeX=\"2\" PhysicalSizeXUnit=\"ly\" PhysicalSizeY=\"2\"").refused.find("'ly'"),
              std::string::npos);
    EXPECT_EQ(
        tiff_scale("<ome:OME xmlns:ome='x'><ome:Pixels PhysicalSizeX='3' PhysicalSizeY='3'/></ome:OME>", {})
            .um_per_px,
        3);
    for (const char* cut :
         {"<OME", "<OME><Pixels ", "<OME><Pixels PhysicalSizeX",
          "<OME><Pixels PhysicalSizeX=", "<OME><Pixels PhysicalSizeX=\"", "<OME><Pixels PhysicalSizeX=\"2"})
        EXPECT_EQ(tiff_scale(cut, {}).um_per_px, 0) << cut;
}

TEST(FileScale, UsesOnlyMeasuredResolutionTags) {
    EXPECT_EQ(tiff_scale("", {4000, 4000, 3}).um_per_px, 2.5);
    EXPECT_EQ(tiff_scale("", {10160, 10160, 2}).um_per_px, 2.5);
    EXPECT_EQ(tiff_scale("", {100, 100, 3}).um_per_px, 100) << "254 dots an inch are nobody's default";
    for (const double dots : {72.0, 96.0, 150.0, 300.0, 600.0, 1200.0}) {
        const FileScale inch = tiff_scale("", {dots, dots, 2}),
                        cm = tiff_scale("", {dots / 2.54, dots / 2.54, 3});
        EXPECT_EQ(inch.um_per_px, 0) << dots;
        EXPECT_EQ(cm.um_per_px, 0) << dots;
        EXPECT_NE(inch.refused.find("printer"), std::string::npos) << inch.refused;
    }
    for (const TiffResolution& none : {TiffResolution{},
                                       {4000, 4000, 1},
                                       {4000, 4000, 0},
                                       {1, 1, 2},
                                       {1, 1, 3},
                                       {0, 0, 3},
                                       {INFINITY, INFINITY, 3}})
        EXPECT_EQ(tiff_scale("", none).um_per_px, 0) << none.x << " " << none.unit;
}

TEST(FileScale, RefusesPixelsThatAreNotSquare) {
    for (const FileScale& scale :
         {tiff_scale(imagej("um"), {0.5, 0.4, 1}), tiff_scale("", {5000, 4000, 3}),
          tiff_scale("<OME><Pixels PhysicalSizeX='2' PhysicalSizeY='2.5'/></OME>", {})}) {
        EXPECT_EQ(scale.um_per_px, 0);
        EXPECT_NE(scale.refused.find("2 × 2.5 µm"), std::string::npos) << scale.refused;
    }
    EXPECT_EQ(tiff_scale("ImageJ=1\nunit=um\nyunit=mm\n", {0.5, 500, 1}).um_per_px, 2) << "each by its unit";
    EXPECT_EQ(tiff_scale(imagej("um"), {1.0 / 0.65, 1.538462, 1}).um_per_px, 0.65) << "rounded ratios";
}

constexpr const char* kWrite = R"py(
import numpy as np, tifffile
a = (np.arange(2 * 12 * 16) % 251).astype(np.uint8).reshape(2, 12, 16)
def imagej(name, unit, x, y=None):
    tifffile.imwrite(name, a, imagej=True, resolution=(x, y or x), metadata={"unit": unit})
imagej("ij_micron.tif", "micron", 1 / 2.5)
imagej("ij_um.tif", "um", 1 / 0.65)
imagej("ij_mm.tif", "mm", 80)
imagej("ij_inch.tif", "inch", 1000)
imagej("ij_sides.tif", "micron", 1 / 2, 1 / 3)
imagej("ij_none.tif", "pixel", 1)
ome = dict(axes="TYX", PhysicalSizeX=1.3, PhysicalSizeXUnit="µm", PhysicalSizeY=1.3, PhysicalSizeYUnit="µm")
tifffile.imwrite("ome_um.ome.tif", a, ome=True, metadata=ome)
ome.update(PhysicalSizeX=650.0, PhysicalSizeXUnit="nm", PhysicalSizeY=650.0, PhysicalSizeYUnit="nm")
tifffile.imwrite("ome_nm.ome.tif", a, ome=True, metadata=ome)
tifffile.imwrite("ome_none.ome.tif", a, ome=True, metadata={"axes": "TYX"})
def plain(name, dots, unit, **more):
    tifffile.imwrite(name, a, resolution=(dots, dots), resolutionunit=unit, metadata=None, **more)
plain("cm.tif", 4000, "CENTIMETER")
plain("big_cm.tif", 4000, "CENTIMETER", bigtiff=True, byteorder=">")
plain("inch.tif", 2540, "INCH")
plain("72.tif", 72, "INCH")
plain("96.tif", 96, "INCH")
plain("300cm.tif", 118.11, "CENTIMETER")
plain("nothing.tif", 4000, "NONE")
tifffile.imwrite("untold.tif", a, metadata=None)
)py";

TEST(FileScale, ReadsFilesOfTifffile) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, kWrite)) << test::read_file(folder / "python.log");
    const std::vector<std::pair<std::string, double>> files = {
        {"ij_micron.tif", 2.5},  {"ij_um.tif", 0.65}, {"ij_mm.tif", 12.5},     {"ij_inch.tif", 25.4},
        {"ij_sides.tif", 0},     {"ij_none.tif", 0},  {"ome_um.ome.tif", 1.3}, {"ome_nm.ome.tif", 0.65},
        {"ome_none.ome.tif", 0}, {"cm.tif", 2.5},     {"big_cm.tif", 2.5},     {"inch.tif", 10},
        {"72.tif", 0},           {"96.tif", 0},       {"300cm.tif", 0},        {"nothing.tif", 0},
        {"untold.tif", 0}};
    for (const auto& [name, um] : files) {
        const std::unique_ptr<ImageReader> reader = open_image(folder / name);
        ASSERT_TRUE(reader->next_page());
        const FileScale scale = reader->scale();
        EXPECT_NEAR(scale.um_per_px, um, 1e-9 * um) << name << ": " << scale.by << scale.refused;
        EXPECT_EQ(scale.by.empty(), um == 0) << name;
    }
}

} // namespace specklescope::file_scale_test
