#include "config/truth.hpp"

#include "base/text.hpp"
#include "config/atomic_file.hpp"
#include "config/settings.hpp"
#include "recording/batch_sink.hpp"
#include "recording/table.hpp"
#include "sources/registry.hpp"
#include "sources/synthetic/synthetic_source.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>

namespace specklescope {

namespace {

constexpr std::string_view kTruthMark = "# Specklescope truth, version 1\n";
constexpr ReplaceableKind kTruthKind{
    .what = "simulated truth", .option = "--truth", .holds = [](std::string_view text) {
        return text.starts_with(kTruthMark);
    }};

constexpr std::string_view kNpyMark = "\x93NUMPY";

std::string maps_path(const std::string& path) {
    return std::filesystem::path(path).replace_extension(".npy").string();
}

/// float32 of shape (3, height, width): τc in ms at the mean flow, ρ, β.
std::string maps_of(const SyntheticOptions& options) {
    const SyntheticTruth truth = synthetic_truth(options);
    const SceneMaps& scene = truth.scene;
    std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, " +
                       std::to_string(scene.height) + ", " + std::to_string(scene.width) + "), }";
    text.resize((text.size() + 10) / 64 * 64 + 64 - 10, ' '); // the header fills whole blocks
    text.back() = '\n';
    const auto length = static_cast<std::uint16_t>(text.size());
    text.insert(0, std::string(kNpyMark) + '\1' + '\0' + static_cast<char>(length & 0xff) +
                       static_cast<char>(length >> 8));
    std::vector<float> values(3 * scene.still.size());
    for (std::size_t i = 0; i < scene.still.size(); ++i) {
        values[i] = 1e3F / (scene.still[i] + scene.flow[i]); // ∞ where nothing moves
        values[scene.still.size() + i] = static_cast<float>(options.rho);
        values[2 * scene.still.size() + i] = static_cast<float>(truth.beta);
    }
    const std::size_t begin = text.size();
    text.resize(begin + values.size() * sizeof(float));
    std::memcpy(text.data() + begin, values.data(), values.size() * sizeof(float));
    return text;
}

class Truth final : public BatchSink<FrameInfo> {
public:
    Truth(std::string path, const SyntheticOptions& options)
        : BatchSink(kQueued, kQueued / 8), path_(std::move(path)), options_(options) {}
    ~Truth() override { close(); }

    void open(const StreamInfo& stream) override {
        close();
        check_truth(path_);
        write_atomically(maps_path(path_), maps_of(options_));
        const auto said = [](const char* what, const std::string& value) {
            return "# " + std::string(what) + ": " + one_line(value) + "\n";
        };
        table_ = TableFile(
            path_, std::string(kTruthMark) + said("source", stream.source_text) +
                       said("maps", maps_path(path_) + ", float32 (3, height, width): τc in ms at the "
                                                       "mean flow, ρ, β") +
                       said("shift", "of the scene in the image, px to the right and downwards") +
                       said("pulse", "pulsating flow over its mean, minus 1, for amplitude 1") +
                       "sequence,frame,exposure_ms,shift_x,shift_y,pulse\n");
        SinkStatus status;
        status.path = path_;
        status.bytes = table_.bytes();
        start(std::move(status));
    }
    void push(const Result& result, bool may_wait) override {
        if (has_room(may_wait))
            add(result.info, 1, true);
    }
    bool wants_host_image() const override { return false; }

protected:
    void write(const Items& items, Written& written) override {
        FrameLines lines;
        for (const FrameInfo& info : items) {
            const std::uint64_t number = info.position.value_or(info.sequence);
            const double seconds = static_cast<double>(number) / clock_rate(options_);
            const double beats = seconds * kPulseRate;
            const SceneShift shift = scene_shift(options_, number, seconds);
            add_whole(lines.text, info.sequence);
            lines.text += ',';
            add_whole(lines.text, number);
            for (const double value :
                 {info.exposure_ms, shift.x, shift.y, pulse_wave(beats - std::floor(beats))}) {
                lines.text += ',';
                add_number(lines.text, value);
            }
            lines.text += '\n';
            lines.ends.push_back(lines.text.size());
        }
        table_.append(lines, written);
    }
    void finish_file(bool /*well*/) override { table_.close(); }

private:
    static constexpr std::size_t kQueued = 1 << 13;
    const std::string path_;
    const SyntheticOptions options_;
    TableFile table_;
};

} // namespace

void check_truth(const std::string& path) {
    if (std::filesystem::path(path).extension() != ".csv")
        throw UsageError("--truth '" + one_line(path) + "' is not a table. Give a name that ends with .csv.");
    check_table(path, kTruthKind);
    check_replaceable(maps_path(path),
                      {.what = "maps", .option = "--truth", .holds = [](std::string_view text) {
                           return text.starts_with(kNpyMark);
                       }});
}

std::vector<std::string> truth_files(const std::string& path) { return {path, maps_path(path)}; }

std::shared_ptr<Sink> make_truth(const std::string& path, const Settings& settings) {
    const SourceDefaults defaults{.rate = settings.program.as<ProgramSettings>().rate};
    const Params params = make_source(settings.source, defaults)->params();
    if (!params.has_table() || &params.table() != &synthetic_table())
        throw UsageError(
            "--truth needs a simulated source, whose truth is known. Open synthetic, or leave it out.");
    return std::make_shared<Truth>(path, params.as<SyntheticOptions>());
}

} // namespace specklescope
