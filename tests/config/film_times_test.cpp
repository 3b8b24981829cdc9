// Frames have the times that ffprobe reads from the file, also with a variable frame rate.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

namespace specklescope::film_times_test {

TEST(FilmTimes, AreThoseOfFfprobe) {
    const TemporaryFolder folder;
    ASSERT_TRUE(test::python(folder, R"py(
import json, subprocess
for name, codec in (("a.mp4", "libx264"), ("a.mkv", "libx264"), ("a.mov", "mpeg4"), ("a.webm", "libvpx-vp9")):
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50", "-frames:v", "40",
                    "-vf", "select='not(mod(n,3))+gt(n,40)'", "-vsync", "vfr", "-c:v", codec, name], check=True)
subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=23.976", "-frames:v", "40",
                "-c:v", "mjpeg", "a.avi"], check=True)
json.dump({"regions": [{"name": "a", "shape": "rectangle", "points": [[2, 3], [60, 40]]}]}, open("r.json", "w"))
)py"));
    for (const std::string film : {"a.mp4", "a.mkv", "a.mov", "a.webm", "a.avi"}) {
        const ChildResult run = run_program({"run", film, "--regions", "r.json", "--traces", film + ".csv"},
                                            folder.path().string());
        EXPECT_EQ(run.status, 0) << run.all();
    }
    EXPECT_TRUE(test::python(folder, R"py(
import subprocess
for name in ("a.mp4", "a.mkv", "a.mov", "a.webm", "a.avi"):
    ours = [float(line.split(",")[1]) for line in open(name + ".csv") if line[0].isdigit()]
    told = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "frame=pts_time", "-of",
                           "csv=p=0", name], check=True, capture_output=True, text=True).stdout
    theirs = [float(word.rstrip(",")) for word in told.split()]
    assert len(ours) == len(theirs) == 40, (name, len(ours), len(theirs))
    worst = max(abs((a - ours[0]) - (b - theirs[0])) for a, b in zip(ours, theirs))
    assert worst < 2e-6, (name, worst)
    assert name == "a.avi" or len({round(b - a, 3) for a, b in zip(ours, ours[1:])}) > 1, "the steps differ"
)py"));
}

} // namespace specklescope::film_times_test
