// Movies of the screen without a window: a movie from `run` equals its snapshot, and the view settings
// select the layout.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/refused.hpp"

#include <gtest/gtest.h>

namespace specklescope::screen_run_test {

const char* const kScene = "synthetic:vessels?width=160&height=120&live=false";

class ScreenRun : public testing::Test {
protected:
    ChildResult run(const std::vector<std::string>& more) const {
        std::vector<std::string> words = {"run", kScene, "--frames", "6", "--backend", "cpu"};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words, folder_.path().string());
    }
    void python(const std::string& code) {
        EXPECT_TRUE(test::python(folder_, "import cv2, numpy\n" + code)) << read_text(folder_ / "python.log");
    }
    TemporaryFolder folder_;
};

TEST_F(ScreenRun, TheLastPictureIsThatOfTheSnapshot) {
    const ChildResult done = run({"--record-screen", "a.mp4", "--record-screen", "b.mkv", "--record-screen",
                                  "last.png", "--snapshot", "s.png", "--colormap", "inferno"});
    ASSERT_EQ(done.status, 0) << done.all();
    python(R"py(
s = cv2.imread('s.png')[..., ::-1].astype(float)
assert (cv2.imread('last.png')[..., ::-1] == s).all()
import subprocess
for name in ('a.mp4', 'b.mkv'):  # as a player shows them: OpenCV knows one matrix of colours only
    subprocess.run(['gst-launch-1.0', '-q', 'filesrc', 'location=' + name, '!', 'decodebin', '!', 'videoconvert', '!',
                    'video/x-raw,format=RGB', '!', 'filesink', 'location=decoded'], check=True)
    frames = numpy.fromfile('decoded', numpy.uint8).reshape(-1, 120, 160, 3).astype(float)
    assert len(frames) == 6, (name, len(frames))
    difference = frames[-1] - s
    if name == 'a.mp4':  # colours have half the resolution: brightness, BT.709
        difference = difference @ [0.2126, 0.7152, 0.0722]
    psnr = 10 * numpy.log10(255**2 / numpy.mean(difference**2))
    assert psnr >= (34 if name == 'a.mp4' else 40), (name, psnr)
import json
def probe(name, *what):
    return json.loads(subprocess.run(['ffprobe', '-v', 'error', '-of', 'json', *what, name], check=True,
                                     capture_output=True, text=True).stdout)
film = probe('a.mp4', '-show_streams', '-show_format', '-count_frames')
video = film['streams'][0]
assert (video['profile'], video['pix_fmt'], video['nb_read_frames']) == ('High', 'yuv420p', '6'), video
totals = json.loads(film['format']['tags']['comment'])
assert totals['finished'] is True and totals['written'] == 6, totals
)py");
}

TEST_F(ScreenRun, TheViewSaysWhatIsSeen) {
    ASSERT_EQ(run({"--record-screen", "raw.png", "--view", "layout=raw", "--record-raw", "raw.tiff"}).status,
              0);
    ASSERT_EQ(run({"--record-screen", "both.png", "--view", "layout=side_by_side"}).status, 0);
    ASSERT_EQ(run({"--record-screen", "big.png", "--screen-zoom", "2"}).status, 0);
    python(R"py(
raw, both, big = (cv2.imread(n).astype(int) for n in ('raw.png', 'both.png', 'big.png'))
assert (both[:, :160] == raw).all() and both.shape == (120, 322, 3)
assert (big[::2, ::2] == both[:, 162:]).all() and (big[1::2, 1::2] == both[:, 162:]).all()
ok, pages = cv2.imreadmulti('raw.tiff', flags=cv2.IMREAD_UNCHANGED)
low, high = numpy.percentile(pages[-1], [0.5, 99.5])
want = numpy.clip((pages[-1].astype(float) - low) / (high - low) * 255, 0, 255)
grey = (raw[..., 0] == raw[..., 1]) & (raw[..., 1] == raw[..., 2])
assert grey.mean() > 0.95 and numpy.median(numpy.abs(raw[..., 0] - want)[grey]) <= 2
)py");
}

TEST_F(ScreenRun, AMovieBringsItsSettings) {
    const ChildResult made = run({"--record-screen", "m.mkv", "--view", "layout=blended", "--stage",
                                  "speckle:radius=2", "--um-per-px", "4", "--screen-zoom", "2"});
    ASSERT_EQ(made.status, 0) << made.all();
    const ChildResult saved = run({"--config", "from:m.mkv", "--save-config", "s.toml"});
    ASSERT_EQ(saved.status, 0) << saved.all();
    const std::string text = read_text(folder_ / "s.toml");
    for (const char* line : {"layout = \"blended\"", "radius = 2", "um_per_px = 4"})
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST_F(ScreenRun, WhatCannotBeIsRefused) {
    expect_refused(folder_.path().string(),
                   {{{"--record-screen", "s.hdr"}, 2, "s.hdr cannot hold"},
                    {{"--record-screen", "s.pdf"}, 2, "A report needs results"},
                    {{"--record-raw", "r.mp4"}, 2, "r.mp4 cannot hold"},
                    {{"--record-screen", "s.mkv", "--screen-zoom", "0"}, 2, "--screen-zoom = 0"}},
                   [&] { EXPECT_TRUE(folder_.names().empty()); });
}

} // namespace specklescope::screen_run_test
