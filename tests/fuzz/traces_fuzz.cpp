// Tables of traces, as read by pulse and trials: each value has a time and a frame number, and the table is
// equal when written and read again.
// Parser: analysis/pulse_table.cpp
#include "analysis/pulse_table.hpp"
#include "recording/table.hpp"
#include "tests/fuzz/support.hpp"

#include <cmath>

namespace specklescope::fuzz {
namespace {

void add_value(std::string& text, double value) {
    if (!std::isnan(value))
        add_number(text, value);
}

std::string printed_table(const TraceTable& table) {
    std::string text;
    if (!table.map.empty())
        text += "# version 1, map: " + table.map + " of 1 px\r\n";
    text += table.clock + ",region,mean,sequence,warming_up\r\n";
    for (const RegionTrace& trace : table.regions) {
        const std::string name = "," + csv_text(trace.region) + ",";
        if (trace.values.empty()) // made only during a warm-up
            text += "1" + name + "1,,1\r\n";
        for (std::size_t i = 0; i < trace.values.size(); ++i) {
            add_value(text, trace.times[i]);
            text += name;
            add_value(text, trace.values[i]);
            text += ",";
            if (trace.sequences[i] != kNoSequence)
                add_whole(text, trace.sequences[i]);
            text += ",\r\n";
        }
    }
    for (const TableEvent& event : table.events) {
        text += "# event: " + std::to_string(event.number) + "," + std::to_string(event.sequence) + ",";
        add_value(text, event.capture_s);
        text += "," + csv_text(event.label) + "\r\n";
    }
    return text;
}

/// NaN equals NaN, since it is written as an empty field.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }
bool same(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return same(x, y); });
}
bool same(const RegionTrace& a, const RegionTrace& b) {
    return a.region == b.region && same(a.times, b.times) && same(a.values, b.values) &&
           a.sequences == b.sequences;
}
bool same(const TableEvent& a, const TableEvent& b) {
    return a.number == b.number && a.sequence == b.sequence && same(a.capture_s, b.capture_s) &&
           a.label == b.label;
}
template <class T> bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& x, const T& y) { return same(x, y); });
}

void check_table(const TraceTable& table) {
    std::uint64_t values = table.in_warmup + table.other_settings;
    for (const RegionTrace& trace : table.regions) {
        values += trace.values.size();
        demand(trace.times.size() == trace.values.size() && trace.sequences.size() == trace.values.size(),
               "a value has no time, or no number");
    }
    demand(values == table.rows, "a row is neither in a trace nor made in the warm-up");
    demand(table.clock == "capture_s" || table.clock == "arrival_s", "the clock is no column");
    for (std::size_t i = 0; i < table.events.size(); ++i)
        demand(!table.events[i].label.empty() &&
                   (i == 0 || table.events[i - 1].number < table.events[i].number),
               "an event has no label, or is out of order");
}

void check_traces(std::string_view bytes) {
    const FileOf file(bytes);
    TraceTable table;
    const std::string sentence =
        sentence_of(bytes.size(), true, [&] { table = read_trace_table(file.path()); });
    if (!sentence.empty())
        return demand(sentence.find(file.path()) != std::string::npos,
                      "the error does not name its file: '" + sentence + "'");
    check_table(table);
    const FileOf written(printed_table(table));
    TraceTable again;
    const std::string refused =
        sentence_of(bytes.size(), true, [&] { again = read_trace_table(written.path()); });
    demand(refused.empty(), "what is written is refused: '" + refused + "'");
    check_table(again);
    demand(again.clock == table.clock && all_same(again.regions, table.regions) &&
               all_same(again.events, table.events) && again.map == table.map && !again.cut_off,
           "what is written is read back as something else");
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check_traces(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
