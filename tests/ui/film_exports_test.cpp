// Exported films, read by OpenCV, ffprobe and tifffile: frames, times, size, values and colours.
#include "session/session.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::film_exports_test {

using test::eventually;

constexpr int kFrames = 24, kFirst = 2, kLast = 10; ///< frames; those of the baseline

class FilmExports : public testing::Test {
protected:
    void run(const std::vector<std::string>& words) {
        std::vector<std::string> all = {"run"};
        all.insert(all.end(), words.begin(), words.end());
        all.insert(all.end(), {"--backend", "cpu"});
        const ChildResult made = run_program(all, folder_.path().string());
        ASSERT_EQ(made.status, 0) << made.all();
    }
    bool until(const std::function<bool()>& so) {
        return eventually([&] {
            session_->poll();
            return so();
        });
    }
    /// Exports the film as results, change and view. `times`: of its frames, in s.
    void export_all(const std::string& source, const std::vector<double>& times) {
        run({source, "--stage", "speckle:radius=2,output=contrast", "--record", "run.tiff"});
        write_text(folder_ / "times.json", nlohmann::json(times).dump());
        Settings settings;
        settings.source = source;
        settings.program.set_text("backend", "cpu");
        settings.chain.add("speckle:radius=2,output=contrast");
        settings.view.set_text("automatic", "false");
        settings.view.set_text("low", "0.1");
        settings.view.set_text("high", "0.6");
        session_ = std::make_unique<Session>(settings);
        session_->recordings.folder = folder_.path().string();
        session_->start([] {});
        session_->regions.add(RegionShape::rectangle, {{40, 40}, {90, 90}});
        ASSERT_TRUE(
            until([&] { return session_->traces().overview().film && session_->pipeline()->finished(); }));
        session_->record_edits();
        const auto ns = [&](std::size_t frame) { return std::llround(times[frame] * 1e9); };
        session_->intervals = {{"rest", ns(kFirst), ns(kLast), true}};
        session_->record_edits();
        session_->take_baseline_image();
        ASSERT_TRUE(until([&] {
            return session_->picture_baseline.image() && !session_->whole_film.running();
        })) << session_->notices().list().back().text;
        for (const auto what : {Exports::Film::results, Exports::Film::change, Exports::Film::screen}) {
            session_->exports.save_film(what);
            ASSERT_TRUE(until([&] { return !session_->whole_film.running(); }));
        }
        session_.reset();
    }
    bool check(double rate) const {
        return test::python(folder_, "rate, count, first, last = " + std::to_string(rate) + ", " +
                                         std::to_string(kFrames) + ", " + std::to_string(kFirst) + ", " +
                                         std::to_string(kLast) + R"py(
import cv2, glob, json, numpy, subprocess, tifffile

times = numpy.array(json.load(open('times.json')))
results = tifffile.imread(glob.glob('results_*.tiff')[0])
run = tifffile.imread('run.tiff')
assert results.dtype == numpy.float32 and results.shape == run.shape == (count, 242, 322), results.shape
assert results.tobytes() == run.tobytes(), 'values'

def movie(kind):
    path = glob.glob(kind + '_*.mkv')[0]
    listed = subprocess.run(['ffprobe', '-v', 'error', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', path],
                            capture_output=True, text=True, check=True).stdout
    packets = numpy.array([float(line.strip(',')) for line in listed.split()])
    film, frames = cv2.VideoCapture(path), []
    if rate:
        assert abs(film.get(cv2.CAP_PROP_FPS) - rate) < 0.001 * rate, film.get(cv2.CAP_PROP_FPS)
    while True:
        ok, frame = film.read()
        if not ok:
            break
        frames.append(frame.astype(int))
    assert len(frames) == len(packets) == count, (len(frames), len(packets))
    assert abs(packets - times).max() < 0.0011, (packets, times)
    assert frames[0].shape[0] == 242 and frames[0].shape[1] > 322, (frames[0].shape, 'with the colour bar')
    return numpy.array(frames)

def turbo(values):
    index = numpy.clip(numpy.round((values - 0.1) / 0.5 * 255), 0, 255).astype(numpy.uint8)
    return cv2.applyColorMap(index, cv2.COLORMAP_TURBO).astype(int)

def in_bar(frame, color):
    strip = frame[:, 322:].reshape(-1, 3)
    return abs(strip - numpy.array(color)).sum(axis=1).min() < 60

screen = movie('screen')
for n in (0, count // 2, count - 1):
    assert abs(screen[n][:, :322] - turbo(results[n])).mean() < 8, n
for value in (0.1, 0.35, 0.6):
    assert in_bar(screen[0], turbo(numpy.full((1, 1), value))[0, 0]), value

change = movie('change')
f0 = numpy.sqrt((results[first:last + 1].astype(float) ** 2).mean(axis=0))
for n in (0, count // 2, count - 1):
    percent = 100 * (results[n] / f0 - 1)
    red = change[n][:, :322, 2] - change[n][:, :322, 0]
    assert (red[percent > 15] > 40).mean() > 0.98 and (red[percent < -15] < -40).mean() > 0.98, n
    assert abs(red[abs(percent) < 1]).mean() < 30, n
assert in_bar(change[0], change[0][:, :322].reshape(-1, 3)[change[0][:, :322, 2].argmax()])
)py");
    }
    TemporaryFolder folder_;
    std::unique_ptr<Session> session_;
};

TEST_F(FilmExports, HaveTheRateOfTheFilm) {
    for (const double rate : {3.0, 12.5, 29.97}) {
        SCOPED_TRACE(rate);
        ASSERT_NO_FATAL_FAILURE(
            run({"synthetic:vessels?width=322&height=242&live=false&rate=" + std::to_string(rate), "--frames",
                 std::to_string(kFrames), "--stage", "none", "--record-raw", "film.raw"}));
        std::vector<double> times;
        for (int frame = 0; frame < kFrames; ++frame)
            times.push_back(frame / rate);
        ASSERT_NO_FATAL_FAILURE(export_all("raw:" + (folder_ / "film.raw"), times));
        ASSERT_TRUE(check(rate)) << read_text(folder_ / "python.log");
        for (const std::string& name : folder_.names())
            std::filesystem::remove(folder_ / name);
    }
}

/// A stack whose frames have their own times, at no rate.
TEST_F(FilmExports, HaveTheTimesOfTheFilm) {
    ASSERT_NO_FATAL_FAILURE(run({"synthetic:vessels?width=322&height=242&live=false&rate=10", "--frames",
                                 std::to_string(kFrames), "--stage", "none", "--record-raw", "even.raw"}));
    std::istringstream lines(read_text(folder_ / "even.raw.jsonl"));
    std::string text, line;
    ASSERT_TRUE(std::getline(lines, line));
    text = line + "\n";
    std::vector<double> times;
    for (std::int64_t ns = 0; std::getline(lines, line);
         ns += 100'000'000 * static_cast<std::int64_t>(1 + times.size() % 4)) {
        nlohmann::ordered_json frame = nlohmann::ordered_json::parse(line);
        frame["capture_ns"] = ns;
        times.push_back(static_cast<double>(ns) * 1e-9);
        text += frame.dump() + "\n";
    }
    write_text(folder_ / "even.raw.jsonl", text);
    ASSERT_NO_FATAL_FAILURE(run({"raw:even.raw", "--stage", "none", "--record-raw", "film.tiff"}));
    ASSERT_NO_FATAL_FAILURE(export_all(folder_ / "film.tiff", times));
    EXPECT_TRUE(check(0)) << read_text(folder_ / "python.log");
}

} // namespace specklescope::film_exports_test
