#include "bench/published.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "bench/report.hpp"
#include "bench/summary.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

namespace specklescope::bench {

namespace {

using Json = nlohmann::ordered_json;

std::vector<KernelCase> cases_of(const std::string& work, const std::vector<std::pair<int, int>>& sizes,
                                 int channels, PixelType type) {
    std::vector<KernelCase> cases;
    cases.reserve(sizes.size());
    for (const auto& [width, height] : sizes)
        cases.push_back({work, {width, height, channels, type}});
    return cases;
}

/// A square RGB image in f32 and a Gaussian of `kernel` (odd) pixels a side.
KernelCase large_kernel(int side, int kernel) {
    const std::string size = std::to_string(kernel);
    return {"convolve:kernel=gaussian,sigma=" + std::to_string((kernel + 7) / 8) + ",size=" + size,
            {side, side, 3, PixelType::f32}};
}

std::vector<KernelCase> both(std::vector<KernelCase> a, const std::vector<KernelCase>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

Json json_of(const Spread& spread) {
    return {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}, {"rounds", spread.rounds}};
}

bool fits(const KernelCase& work, std::string_view filter) {
    return std::string_view("published").find(filter) != std::string_view::npos ||
           work.name().find(filter) != std::string::npos;
}

Json row_of(const KernelCase& work, const std::string& on, const KernelRun& run) {
    std::fprintf(stderr, "%s %s on %s: %s ms\n", work.work.c_str(), to_string(work.shape).c_str(), on.c_str(),
                 digits(run.time.median).c_str());
    return {{"work", work.work},
            {"image", to_string(work.shape)},
            {"on", on},
            {"ms", json_of(run.time)},
            {"note", run.note}};
}

/// The quickest other method that the reports have of this machine, on the same kind of processor.
const Json* beside(const std::vector<Json>& reports, const std::string& machine, const KernelCase& work,
                   bool gpu) {
    const Json* best = nullptr;
    for (const Json& report : reports) {
        if (report.at("machine").at("name") != machine || !report.contains("peers"))
            continue;
        for (const Json& row : report.at("peers")) {
            const bool fitting = bare_work(row) == work.work && row.at("image") == to_string(work.shape) &&
                                 row.at("work").get<std::string>().starts_with(gpu ? "GPU " : "CPU ");
            if (fitting && (!best || row.at("peer_ms").at("median") < best->at("peer_ms").at("median")))
                best = &row;
        }
    }
    return best;
}

std::string median(const Json& row, const char* key) {
    return row.contains(key) ? digits(row.at(key).at("median").get<double>()) : "–";
}

std::string table_of(const Published& system, const std::vector<Json>& reports) {
    std::vector<std::vector<std::string>> lines = {
        {"frame", "on", "ours, ms", "with copies, ms", "another there, ms", "the other"}};
    for (const KernelCase& work : system.cases)
        for (const Json& report : reports)
            for (const Json& row : report.value("published", Json::array())) {
                if (row.at("work") != work.work || row.at("image") != to_string(work.shape))
                    continue;
                const std::string on = row.at("on");
                const bool gpu = on == "GPU";
                const Json& machine = report.at("machine");
                const std::string name = machine.at("name"), processor = machine.value("CPU", name);
                const Json* other = row.value("most", false) ? beside(reports, name, work, gpu) : nullptr;
                lines.push_back({to_string(work.shape) + ", " + work.work,
                                 gpu ? name : processor.substr(0, processor.find(',')) + ", " + on,
                                 median(row, "ms"), median(row, "with_copies_ms"),
                                 other ? median(*other, "peer_ms") : "–",
                                 other ? other->at("peer").get<std::string>() : ""});
            }
    return lines.size() > 1 ? table(lines) : "Not measured yet.\n";
}

} // namespace

const std::vector<Published>& published() {
    static const std::vector<Published> systems = {
        {"Speckle contrast and flow index on the GPU",
         "Yang, Cuccia, Choi, *Real-time blood flow visualization using the graphics processing unit*, "
         "J. Biomed. Opt. 16(1), 016009 (2011), abstract",
         "images acquired, processed and shown at about 10 frames/s",
         "one GPU programmed in CUDA under LabVIEW, of no model that the abstract names; a camera of nearly "
         "10 "
         "frames/s",
         "window of 5×5 pixels, sample standard deviation, SFI = 1/(2·T·K²), frame of 1392×1040.",
         "the published figure is of the whole instrument and no faster than its camera: beside it belongs "
         "the "
         "rate of the whole program in [benchmarks.md](../benchmarks.md), not a kernel's time. The earlier "
         "method writes K and SFI, ours one of them.",
         both(cases_of("speckle:radius=2", {{1392, 1040}}, 1, PixelType::u8),
              cases_of("speckle:radius=2", {{1392, 1040}, {3840, 2160}}, 1, PixelType::u16))},
        {"Recursive Gaussian on the GPU",
         "the filter: Young, van Vliet, *Recursive implementation of the Gaussian filter*, Signal Processing "
         "44 "
         "(1995); on the GPU a thread a row, transposed between",
         "", "", "sigma 10, one channel in f32, forward and backward, rows and columns.",
         "the earlier method works in f64 and begins its backward pass approximately; ours in f32 "
         "differences, "
         "with the exact border of Triggs and Sdika (2006).",
         cases_of("gaussian:method=recursive,sigma=10", {{1920, 1440}, {3840, 2160}}, 1, PixelType::f32)},
        {"Convolution with a kernel as large as the image, for glare",
         "Johansson Bergström 2012",
         "",
         "",
         "f32 RGB, one kernel for the three channels, linear convolution. 2376² with a kernel of 2375² "
         "pixels and "
         "2831² with one of 2831² have 4750² and 5661² with their border; 4750² and 5661² are also measured "
         "as "
         "images, with kernels as large.",
         "the size of our transforms is chosen for speed and is not the padded size; the border repeats the "
         "edge; "
         "the kernel's spectrum is made once, not for every image. cuFFT beside it makes the two transforms "
         "of "
         "the padded image, and nothing else of a convolution.",
         {large_kernel(2376, 2375), large_kernel(2831, 2831), large_kernel(4750, 4751),
          large_kernel(5661, 5661)}},
        {"Direct 5×5 Gaussian", "weights in constant memory, tiles in shared memory", "", "",
         "f32 RGB, the same 25 weights.",
         "ours takes the two lines of five weights of a separable kernel, the earlier methods 25; their "
         "frame of "
         "zeros is there before the time begins, and ours makes its border itself.",
         cases_of("gaussian:method=binomial5", {{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}}, 3,
                  PixelType::f32)},
        {"Equalisation of V in HSV", "histogram by atomics in shared memory, pictures in HSV between kernels",
         "", "", "u8 RGB, 256 bins, V = r/r_max, hue and saturation kept.",
         "ours never makes the pictures in HSV: it scales each pixel's channels by the ratio of new to old "
         "V.",
         cases_of("equalize:bins=256", {{961, 640}, {3840, 2160}}, 3, PixelType::u8)},
    };
    return systems;
}

bool any_published(std::string_view filter) {
    return std::any_of(published().begin(), published().end(), [&](const Published& system) {
        return std::any_of(system.cases.begin(), system.cases.end(),
                           [&](const KernelCase& work) { return fits(work, filter); });
    });
}

Json run_published(std::string_view filter, bool host, DeviceBench* device, bool& wrong) {
    Json rows = Json::array();
    const auto add = [&](const KernelCase& work, const std::string& on, bool most, auto&& measure) {
        try {
            const KernelRun run = measure();
            wrong = wrong || !run.agrees;
            rows.push_back(row_of(work, on, run));
            rows.back()["most"] = most;
        } catch (const Error& error) {
            spdlog::warn("Not measured: {} on {}: {}", work.name(), on, error.what());
        }
    };
    for (const Published& system : published())
        for (const KernelCase& work : system.cases) {
            if (!fits(work, filter))
                continue;
            const int all = parallel_threads();
            for (int threads = host ? 1 : 2 * all; threads < 2 * all; threads *= 2) {
                threads = std::min(threads, all); // the last step may be a shorter one
                const ThreadLimit limit(threads);
                add(work, std::to_string(threads) + (threads == 1 ? " thread" : " threads"), threads == all,
                    [&] { return run_on_host(work); });
            }
            if (!device)
                continue;
            Spread with_copies;
            const std::size_t before = rows.size();
            add(work, "GPU", true, [&] {
                with_copies = device->with_copies(work);
                return device->run(work);
            });
            if (rows.size() > before)
                rows.back()["with_copies_ms"] = json_of(with_copies);
        }
    return rows;
}

std::string published_table(const Json& rows) {
    std::vector<std::vector<std::string>> lines = {{"work, frame", "on", "ms", "with copies, ms", "chosen"}};
    for (const Json& row : rows)
        lines.push_back({row.at("work").get<std::string>() + ", " + row.at("image").get<std::string>(),
                         row.at("on"), median(row, "ms"), median(row, "with_copies_ms"), row.at("note")});
    return table(lines);
}

std::string published_page(const std::vector<Json>& reports) {
    if (std::none_of(reports.begin(), reports.end(),
                     [](const Json& report) { return !report.value("published", Json::array()).empty(); }))
        return "";
    std::string text =
        "# Published, and here\n\nWritten by `specklescope bench --markdown` from the JSON files of the "
        "runs; "
        "figures of publications stand in `bench/published.cpp` with their source. No earlier system ran on "
        "the hardware of these tables: what the same method takes *here* is in the last columns, in the "
        "newest "
        "run of that machine that has it, on the same frames (`tests/bench/seeds`: written anew from the "
        "descriptions), or "
        "another library's where there is no such method. *Ours* is the stage alone on frames in memory; "
        "*with copies* also brings a frame from page-locked memory and the result back, one after the other. "
        "Every time is the median of a frame.\n\nMeasured:\n\n";
    for (const Json& report : reports)
        if (!report.value("published", Json::array()).empty())
            text += "- " + report.at("machine").at("name").get<std::string>() + ", " +
                    report.at("machine").value("measured", "") + ", load at the start " +
                    report.at("machine").value("load at the start", "not noted") + "\n";
    for (const Published& system : published()) {
        text += std::string("\n## ") + system.what + "\n\n" + system.source + ".\n\n- Published: ";
        text += *system.figure ? std::string(system.figure) + " (" + system.hardware + ")."
                               : std::string("the publication's figures were not at hand when this page was "
                                             "written, and none is quoted from memory.");
        text += std::string("\n- Like for like: ") + system.alike + "\n- Not alike: " + system.unlike +
                "\n\n" + table_of(system, reports);
    }
    return text;
}

} // namespace specklescope::bench
