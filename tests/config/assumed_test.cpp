// Assumed facts are marked in every output, also when a recording is played.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace specklescope {
namespace {

constexpr const char* kInputs = R"py(
import subprocess
import numpy as np
import tifffile
from PIL import Image

noise = np.random.default_rng(5).integers(0, 256, (4, 48, 64)).astype(np.uint8)
noise.tofile("noise.raw")
def video(name, *options):
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", "64x48", "-r", "25",
                    "-i", "noise.raw", *options, name], check=True)
video("bare.avi", "-pix_fmt", "yuyv422", "-c:v", "rawvideo")
video("range.mkv", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "0", "-color_range", "tv")
video("stated.mkv", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "0", "-color_range", "tv", "-colorspace", "bt709",
      "-color_primaries", "bt709", "-color_trc", "bt709")
deep = np.random.default_rng(6).integers(0, 6000, (4, 48, 64)).clip(0, 4095).astype(np.uint16)
tifffile.imwrite("piled.tif", deep, photometric="minisblack")
deep.astype("<u2").tofile("piled.raw")
tifffile.imwrite("whole.tif", (deep * 8).astype(np.uint16), photometric="minisblack")
Image.fromarray(np.stack([noise[0]] * 3, -1)).save("photo.jpg")
)py";

struct Input {
    std::vector<std::string> source;
    std::string assumed;
};

TEST(Assumed, IsInTheSummaryStatisticsTagsTablesAndReport) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, kInputs));
    test::write_file(folder / "regions.json",
                     R"({"regions":[{"name":"a","shape":"rectangle","points":[[10,10],[30,30]]}]})");
    const auto run = [&](std::vector<std::string> source, const std::string& name) {
        source.insert(source.begin(), "run");
        for (const char* const more :
             {"--stage=speckle:radius=2,exposure=5", "--frames=4", "--regions=regions.json"})
            source.emplace_back(more);
        for (const auto& [option, ending] : {std::pair{"--record-raw=", ".tiff"},
                                             {"--record=", ".results.raw"},
                                             {"--stats=", ".json"},
                                             {"--report=", ".report.pdf"},
                                             {"--traces=", ".csv"}})
            source.push_back(option + name + ending);
        return run_program(source, folder.path().string());
    };
    const std::vector<Input> inputs = {
        {{"bare.avi"}, "video range, video matrix"},
        {{"range.mkv"}, "video matrix"},
        {{"stated.mkv"}, ""},
        {{"piled.tif", "--rate=25"}, "full scale"},
        {{"raw:piled.raw?width=64&height=48&format=gray16le&rate=25"}, "full scale"},
        {{"whole.tif", "--rate=25"}, ""},
        {{"photo.jpg", "--rate=25"}, "image coding"},
    };
    int number = 0;
    for (const Input& input : inputs)
        for (const bool played : {false, true}) {
            const std::string first = std::to_string(number), name = first + (played ? "played" : "");
            number += played ? 1 : 0;
            const ChildResult result = run(played ? std::vector{first + ".tiff"} : input.source, name);
            ASSERT_EQ(result.status, 0) << input.source[0] << "\n" << result.all();
            const auto json = nlohmann::json::parse(test::read_file(folder / (name + ".json")));
            EXPECT_EQ(json.at("assumed"), input.assumed) << input.source[0] << " " << played;
            const auto expect = [&](const std::string& text, const std::string& before) {
                EXPECT_EQ(text.find(before + input.assumed) != std::string::npos, !input.assumed.empty())
                    << input.source[0] << " " << played << ":\n"
                    << text.substr(0, 2000);
            };
            expect(result.out, "  assumed     ");
            expect(test::read_file(folder / (name + ".csv")), ", assumed: ");
            expect(test::read_file(folder / (name + ".report.csv")), "# Assumed: ");
            expect(test::read_file(folder / (name + ".results.raw.jsonl")), "\"assumed\":\"");
        }
}

} // namespace
} // namespace specklescope
