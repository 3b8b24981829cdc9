#include "bench/report.hpp"

#include "bench/published.hpp"
#include "bench/summary.hpp"
#include "bench/timing.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace specklescope::bench {

namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

/// In characters, not bytes: × and µ are one.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string spread_text(const Json& time) {
    const double median = time.at("median");
    const double half = (time.at("high").get<double>() - time.at("low").get<double>()) / 2;
    return digits(median) + (median > 0 ? " ± " + digits(100 * half / median) + " %" : "");
}

std::string number(const Json& row, const char* key) { return digits(row.at(key).get<double>()); }

std::string if_positive(const Json& row, const char* key) {
    const double value = row.value(key, 0.0);
    return value > 0 ? digits(value) : "–";
}

std::string difference_text(const Json& row) {
    if (row.at("difference").is_null())
        return "**wrong**";
    const double value = row.at("difference");
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1e", value);
    return (value == 0 ? std::string("same") : std::string(text.data())) +
           (row.at("agrees").get<bool>() ? "" : " **wrong**");
}

/// Instruction sets in the order in which rows name them first.
std::vector<std::string> simd_names(const Json& rows, const char* key) {
    std::vector<std::string> names;
    for (const Json& row : rows)
        if (row.contains(key))
            for (const auto& [name, time] : row.at(key).items())
                if (std::find(names.begin(), names.end(), name) == names.end())
                    names.push_back(name);
    return names;
}

const Json* simd_ms(const Json& row, const char* key, const std::string& name) {
    return row.contains(key) && row.at(key).contains(name) ? &row.at(key).at(name) : nullptr;
}

struct Section {
    const char* key;
    const char* title;
    const char* how;
    std::string (*make)(const Json&);
};

constexpr auto kSections = std::to_array<Section>({
    {"kernels", "Stages",
     "One stage on one frame, median ± half the distance of the quartiles, after warm-up, on fresh simulated "
     "speckle in buffers used in turn. "
     "*Copy* is the time to copy as many bytes as the input and the output have together (half of them read, "
     "half written), "
     "*fraction* is copy over stage: 1 would be a stage limited by memory alone. *Checked*: on the GPU the "
     "worst difference from the host's "
     "result, relative (integers: of full scale); on the CPU \"same\" says that the result did not depend on "
     "what the output held before.",
     kernel_table},
    {"published", "Beside what was published",
     "The work of earlier publications in their sizes and pixel types; *with copies* also brings the frame "
     "from page-locked memory and the result back. What they published is on the page of that name.",
     published_table},
    {"simd", "Instruction sets",
     "Stages of the host whose loops are limited to one instruction set or the other, in turn. AVX3 is "
     "Highway's name of AVX-512.",
     simd_table},
    {"stream", "Frames through the executor",
     "Frames from slots (page-locked with a GPU) through upload, stage and, where said, download, as fast as "
     "the executor takes "
     "them. *Fraction* is of the bus's rate in the direction that limits, or on the CPU of the stage alone.",
     stream_table},
    {"regions", "Regions",
     "The same stream with statistics over regions of every frame and without, in turn; medians of the "
     "rounds. *Pixels* "
     "are those of all regions together, *time* what they add to a frame, *cost* their share of the time.",
     region_table},
    {"feeds", "Sources and recorders",
     "1392×1040 u16. Sources run unpaced through ring, queue and an empty chain. Recorders take frames "
     "from slots, and the time counts until the file is closed; *plain write* puts as many bytes into a file "
     "there with one "
     "system call a frame. CPU is processor time over wall-clock time, in cores.",
     feed_table},
    {"gpus", "Several GPUs",
     "The same frames from page-locked slots dealt in turn to the GPUs of one host, results in order, each "
     "left "
     "on its GPU. *Times* is the "
     "rate over that of one GPU, *fraction* that over the number of GPUs. *Kernels* is the time between the "
     "first and the last kernel of a frame "
     "(of one GPU), *submit* what the thread that deals them spends on one: with one GPU it starts the "
     "kernels "
     "itself, with several each GPU has "
     "a thread for that.",
     gpus_table},
    {"pipeline", "The whole program",
     "The program as a process of its own on simulated speckle, 1392×1040 u16: source, ring, queue, "
     "executor, and the window where said. Latency runs from "
     "the arrival of the pixels to the result. CPU is processor time over wall-clock time, in cores.",
     pipeline_table},
    {"doors", "Doors",
     "The program on a simulated camera of 1000 frames/s, 320×240 u16, with no door, with --publish, "
     "--control, "
     "--metrics and --serve, and with somebody at each of these who asks for all that there is and reads "
     "none of "
     "it. *Unread* is what had come to them at the end: they stood still. A frame that is dropped is one "
     "that a "
     "door has cost, where there is none without.",
     doors_table},
    {"traces", "Traces of regions",
     "What the window's plots cost: least and largest mean of every column, and a frame taken in. Values "
     "change from "
     "frame to frame; the memory is that of the whole history.",
     traces_table},
    {"startup", "Start", "From the start of the process; the median of the runs and its quartiles.",
     startup_table},
    {"peers", "Beside other libraries",
     "The same work by others, in one process, in turn with ours, on the same frames and as many threads. "
     "*Factor* is their time over "
     "ours: above 1, ours is faster. The last columns: ours with one instruction set of the processor or the "
     "other, in turn in the same run; AVX3 is Highway's name of AVX-512.",
     peer_table},
});

} // namespace

std::string table(const std::vector<Row>& rows) {
    std::vector<std::size_t> widths(rows[0].size(), 3);
    for (const Row& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], width_of(row[i]));
    std::string text;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t i = 0; i < rows[r].size(); ++i) {
            const std::string gap(widths[i] - width_of(rows[r][i]), ' ');
            text += "| " + (i == 0 ? rows[r][i] + gap : gap + rows[r][i]) + " ";
        }
        text += "|\n";
        for (std::size_t i = 0; r == 0 && i < widths.size(); ++i)
            text +=
                i == 0 ? "|" + std::string(widths[i] + 2, '-') : "|" + std::string(widths[i] + 1, '-') + ":";
        text += r == 0 ? "|\n" : "";
    }
    return text;
}

std::string kernel_table(const Json& rows) {
    std::vector<Row> lines = {{"stage, frame", "ms", "copy, ms", "fraction", "checked", "chosen"}};
    for (const Json& row : rows)
        lines.push_back(
            {row.at("work").get<std::string>() + ", " + row.at("image").get<std::string>(),
             spread_text(row.at("ms")), number(row.at("copy_ms"), "median"),
             digits(row.at("copy_ms").at("median").get<double>() / row.at("ms").at("median").get<double>()),
             difference_text(row), row.value("note", "")});
    return table(lines);
}

std::string stream_table(const Json& rows) {
    std::vector<Row> lines = {
        {"stage, frame", "result", "frames/s", "up, GB/s", "down, GB/s", "fraction", "latency, ms"}};
    for (const Json& row : rows)
        lines.push_back({row.at("work").get<std::string>() + ", " + row.at("image").get<std::string>(),
                         row.at("result"), number(row, "frames_per_s"), number(row, "up_gb_per_s"),
                         if_positive(row, "down_gb_per_s"), if_positive(row, "fraction"),
                         number(row, "latency_ms")});
    return table(lines);
}

std::string region_table(const Json& rows) {
    std::vector<Row> lines = {
        {"stage, frame", "regions", "pixels", "frames/s without", "frames/s with", "time, µs", "cost, %"}};
    for (const Json& row : rows)
        lines.push_back({row.at("work").get<std::string>() + ", " + row.at("image").get<std::string>(),
                         row.at("regions"), std::to_string(row.at("pixels").get<std::uint64_t>()),
                         number(row, "frames_per_s_without"), number(row, "frames_per_s"),
                         digits(1e3 * row.at("ms").get<double>()),
                         digits(100 * row.at("share").get<double>())});
    return table(lines);
}

std::string feed_table(const Json& rows) {
    std::vector<Row> lines = {{"what", "where", "frames/s", "MB/s", "CPU", "frames", "dropped"}};
    for (const Json& row : rows)
        lines.push_back({row.at("name"), row.at("place"), number(row, "frames_per_s"),
                         number(row, "mb_per_s"), number(row, "cpu"),
                         std::to_string(row.at("frames").get<long>()),
                         std::to_string(row.at("dropped").get<long>())});
    return table(lines);
}

std::string gpus_table(const Json& rows) {
    std::vector<Row> lines = {
        {"stages, frame", "GPUs", "frames/s", "times", "fraction", "kernels, ms", "submit, µs", "up, GB/s"}};
    for (const Json& row : rows)
        lines.push_back({row.at("work").get<std::string>() + ", " + row.at("image").get<std::string>(),
                         std::to_string(row.at("gpus").get<int>()), number(row, "frames_per_s"),
                         number(row, "times"), number(row, "fraction"), number(row, "kernels_ms"),
                         number(row, "submit_us"), number(row, "up_gb_per_s")});
    return table(lines);
}

std::string pipeline_table(const Json& rows) {
    std::vector<Row> lines = {
        {"run", "frames/s", "frames", "dropped", "drawn/s", "latency median, ms", "95 %", "99 %", "CPU"}};
    for (const Json& row : rows)
        lines.push_back(
            {row.at("name"), number(row, "frames_per_s"), std::to_string(row.at("frames").get<long>()),
             std::to_string(row.at("dropped").get<long>()), if_positive(row, "drawn_per_s"),
             number(row, "median_ms"), number(row, "p95_ms"), number(row, "p99_ms"), number(row, "cpu")});
    return table(lines);
}

std::string doors_table(const Json& rows) {
    std::vector<Row> lines = {{"run", "frames/s", "frames", "dropped", "latency median, ms", "99 %", "CPU",
                               "clients", "unread, KiB"}};
    for (const Json& row : rows)
        lines.push_back(
            {row.at("name"), number(row, "frames_per_s"), std::to_string(row.at("frames").get<long>()),
             std::to_string(row.at("dropped").get<long>()), number(row, "median_ms"), number(row, "p99_ms"),
             number(row, "cpu"), if_positive(row, "clients"), if_positive(row, "unread_kib")});
    return table(lines);
}

std::string traces_table(const Json& rows) {
    std::vector<Row> lines = {{"what", "regions", "frames", "µs", "MB held"}};
    for (const Json& row : rows)
        lines.push_back({row.at("work"), digits(row.at("regions")), digits(row.at("frames")),
                         spread_text(row.at("us")), digits(row.at("mb"))});
    return table(lines);
}

std::string startup_table(const Json& rows) {
    std::vector<Row> lines = {{"what", "s"}};
    for (const Json& row : rows)
        lines.push_back({row.at("name"), spread_text(row.at("s"))});
    return table(lines);
}

std::string peer_table(const Json& rows) {
    const std::vector<std::string> simd = simd_names(rows, "ours_ms_by_simd");
    std::vector<Row> lines = {{"work, frame", "other", "other, ms", "ours, ms", "factor"}};
    for (const std::string& name : simd)
        lines[0].insert(lines[0].end(), {name + ", ms", "factor"});
    for (const Json& row : rows) {
        const auto factor = [&](const Json& ours) {
            return digits(row.at("peer_ms").at("median").get<double>() / ours.at("median").get<double>());
        };
        lines.push_back({row.at("work").get<std::string>() + ", " + row.at("image").get<std::string>(),
                         row.at("peer"), spread_text(row.at("peer_ms")), spread_text(row.at("ours_ms")),
                         factor(row.at("ours_ms"))});
        for (const std::string& name : simd) {
            const Json* ours = simd_ms(row, "ours_ms_by_simd", name);
            lines.back().insert(lines.back().end(),
                                {ours ? spread_text(*ours) : "–", ours ? factor(*ours) : "–"});
        }
    }
    return table(lines);
}

std::string simd_table(const Json& rows) {
    const std::vector<std::string> simd = simd_names(rows, "ms_by_simd");
    std::vector<Row> lines = {{"stage, frame"}};
    for (const std::string& name : simd)
        lines[0].push_back(name + ", ms");
    for (const Json& row : rows) {
        lines.push_back({row.at("work").get<std::string>() + ", " + row.at("image").get<std::string>()});
        for (const std::string& name : simd) {
            const Json* ms = simd_ms(row, "ms_by_simd", name);
            lines.back().push_back(ms ? spread_text(*ms) : "–");
        }
    }
    return table(lines);
}

std::string facts_list(const Json& facts) {
    std::string text;
    for (const auto& [name, value] : facts.items())
        if (name != "name")
            text += "- " + name + ": " +
                    (value.is_string() ? value.get<std::string>() : digits(value.get<double>())) + "\n";
    return text;
}

std::string machine_page(const Json& report, const std::vector<std::string>& charts) {
    std::string text =
        "# " + report.at("machine").at("name").get<std::string>() + "\n\n" + facts_list(report.at("machine"));
    if (report.contains("ceilings"))
        text += "\n**What the machine can do**\n\n" + facts_list(report.at("ceilings"));
    for (const std::string& chart : charts)
        text += "\n![" + chart + "](" + chart + ")\n";
    for (const Section& section : kSections)
        if (report.contains(section.key) && !report.at(section.key).empty())
            text += std::string("\n## ") + section.title + "\n\n" + section.how + "\n\n" +
                    section.make(report.at(section.key));
    return text;
}

std::string overview_page(const std::vector<MachinePage>& pages, const std::string& others) {
    std::string text =
        "# Benchmarks\n\nWritten by `specklescope bench --markdown` from the JSON files of the runs; "
        "nothing here is typed by hand. `./dev bench` measures the machine it runs on.\n\n";
    std::vector<Json> reports;
    reports.reserve(pages.size());
    for (const MachinePage& page : pages)
        reports.push_back(page.report);
    if (const std::string rows = summary_table(reports); !rows.empty())
        text += "*Factor*: the other's time over ours, in turn in one run; above 1, ours is quicker. "
                "*Fraction*: the time "
                "of a mere copy of as many bytes over ours; 1 is a stage that memory alone limits.\n\n" +
                rows;
    text += "\nEverything measured, a page a machine:\n\n";
    for (const MachinePage& page : pages)
        text += "- [" + page.report.at("machine").at("name").get<std::string>() + ", " +
                page.report.at("machine").value("measured", "") + "](" + page.path + ")\n";
    text += others;
    for (const MachinePage& page : pages)
        for (const std::string& chart : page.charts)
            text += "\n![" + chart + "](" + chart + ")\n";
    for (const MachinePage& page : pages)
        if (page.report.contains("pipeline") && !page.report.at("pipeline").empty())
            text += "\n## The whole program, " + page.report.at("machine").at("name").get<std::string>() +
                    "\n\n" + pipeline_table(page.report.at("pipeline"));
    return text;
}

} // namespace specklescope::bench
