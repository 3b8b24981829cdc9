#include "analysis/pulse_table.hpp"

#include "analysis/made_with.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "files/input_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kMostLine = std::size_t{1} << 20;
constexpr std::size_t kMostRegions = 65536;

/// Reads a file line by line.
class Lines {
public:
    explicit Lines(const std::string& path) : path_(path), file_(open_input(path)) {}
    /// False at the end. Removes the line end, including a carriage return.
    bool next(std::string& line) {
        line.clear();
        ended_ = false;
        while (!ended_) {
            if (at_ == filled_) {
                at_ = 0;
                filled_ = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
                if (filled_ == 0 && std::ferror(file_.get()) != 0)
                    throw RunError("'" + path_ + "' cannot be read to its end.");
                if (filled_ == 0)
                    break;
            }
            const std::string_view rest(buffer_.data() + at_, filled_ - at_);
            const std::size_t end = rest.find('\n');
            line += rest.substr(0, end);
            ended_ = end != std::string_view::npos;
            at_ += ended_ ? end + 1 : rest.size();
            if (line.size() > kMostLine)
                throw UsageError(path_ + ", line " + std::to_string(number_ + 1) +
                                 ": it is longer than 1 MiB, and no row of a table of traces.");
        }
        if (line.empty() && !ended_)
            return false;
        ++number_;
        if (!line.empty() && line.back() == '\r')
            line.pop_back();
        return true;
    }
    bool ended() const { return ended_; } ///< the last line had its end
    std::uint64_t number() const { return number_; }

private:
    std::string path_;
    InputFile file_;
    std::string buffer_ = std::string(1 << 16, '\0');
    std::size_t at_ = 0, filled_ = 0;
    bool ended_ = false;
    std::uint64_t number_ = 0;
};

/// Splits a line into fields; false for an unclosed quote.
bool take_apart(std::string_view line, std::vector<std::string>& fields) {
    fields.clear();
    for (std::size_t i = 0;; ++i) {
        std::string field;
        if (i < line.size() && line[i] == '"') {
            for (++i;; ++i) {
                if (i >= line.size())
                    return false;
                if (line[i] == '"' && (i + 1 == line.size() || line[i + 1] != '"'))
                    break;
                if (line[i] == '"')
                    ++i;
                field += line[i];
            }
            ++i;
            if (i < line.size() && line[i] != ',')
                return false;
        } else {
            const std::size_t end = std::min(line.find(',', i), line.size());
            field = line.substr(i, end - i);
            i = end;
        }
        fields.push_back(std::move(field));
        if (i >= line.size())
            return true;
    }
}

/// NaN for an empty text; nothing if the text is not a number.
std::optional<double> number_of(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    if (text.empty())
        return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<std::uint64_t> whole_of(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

class Reader {
public:
    explicit Reader(const std::string& path) : path_(path), lines_(path) {}

    TraceTable read() {
        std::string line;
        bool ours = false;
        while (lines_.next(line)) {
            if (lines_.number() == 1 && line.starts_with("\xef\xbb\xbf"))
                line.erase(0, 3);
            if (lines_.number() == 1)
                ours = line.starts_with("# Specklescope traces");
            if (line.empty())
                continue;
            if (line[0] == '#')
                read_comment(line);
            else if (columns_ == 0)
                read_columns(line);
            // our lines have ends, unless a run was killed
            else if (!lines_.ended() && (ours || !whole(line)))
                table_.cut_off = true;
            else
                read_row(line);
        }
        if (columns_ == 0)
            throw UsageError("'" + path_ + "' holds no table of traces; name a file that --traces wrote.");
        choose_clock();
        for (auto& [number, event] : events_)
            if (!event.label.empty())
                table_.events.push_back(std::move(event));
        return std::move(table_);
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw UsageError(path_ + ", line " + std::to_string(lines_.number()) + ": " + what);
    }

    /// Ignores unknown comments.
    void read_comment(const std::string& line) {
        constexpr std::string_view kEvent = "# event: ", kVersion = "# version ";
        if (line.starts_with(kEvent)) {
            const std::string_view rest = std::string_view(line).substr(kEvent.size());
            if (!take_apart(rest, fields_) || fields_.size() != 4)
                return;
            const auto number = whole_of(fields_[0]), sequence = whole_of(fields_[1]);
            const auto capture = number_of(fields_[2]);
            if (number && sequence && capture)
                events_[*number] = {*number, *sequence, *capture, fields_[3]};
            return;
        }
        if (!line.starts_with(kVersion))
            return;
        constexpr std::string_view kMap = ", map: ", kMean = ", mean: ", kChain = ", chain: ",
                                   kExposure = ", exposure: ", kOf = " of ", kChannel = ", channel: ",
                                   kFullScale = ", full scale: ", kRegion = ", region: ";
        const auto after = [&](std::string_view key) {
            const std::size_t at = line.find(key);
            return at == std::string::npos ? std::nullopt : std::optional(line.substr(at + key.size()));
        };
        if (const auto chain = after(kChain)) {
            change(chain_, *chain);
        } else if (const auto channel = after(kChannel)) {
            change(channel_, *channel);
        } else if (const auto scale = after(kFullScale)) {
            change(full_scale_, *scale);
        } else if (const auto region = after(kRegion)) {
            change_outline(*region);
        } else if (const auto map = after(kMap)) {
            change(table_.map, map->substr(0, map->rfind(kOf)));
        } else if (const auto mean = after(kMean)) {
            if (const auto known = mean_of_text(*mean); known && known != table_.mean) {
                begin_settings(table_.mean.has_value());
                table_.mean = known;
            }
        } else if (const auto exposure = after(kExposure)) {
            double ms = 0;
            (void)std::from_chars(exposure->data(), exposure->data() + exposure->size(), ms);
            if (ms > 0 && std::abs(ms - exposure_ms_) > kSameExposure * std::max(ms, exposure_ms_)) {
                begin_settings(exposure_ms_ > 0);
                exposure_ms_ = ms;
            }
        }
    }

    void change(std::string& known, const std::string& now) {
        if (known != now)
            begin_settings(!known.empty());
        known = now;
    }

    /// "name: shape, pixels, outline"
    void change_outline(const std::string& region) {
        const std::size_t end = region.rfind(": ");
        if (end == std::string::npos)
            return;
        std::string& known = outlines_[region.substr(0, end)];
        if (!known.empty() && known != region)
            moved_.insert(region.substr(0, end));
        known = region;
    }

    void begin_settings(bool others) { others_ = others_ || others; }

    /// Drops values made with other settings than the following rows.
    void leave_out_others() {
        if (others_)
            advances_ = false;
        for (std::size_t i = 0; i < table_.regions.size() && (others_ || !moved_.empty()); ++i) {
            RegionTrace& trace = table_.regions[i];
            if (!others_ && !moved_.contains(one_line(trace.region)))
                continue;
            table_.other_settings += trace.times.size();
            trace.times.clear();
            trace.values.clear();
            trace.sequences.clear();
            arrivals_[i].clear();
        }
        others_ = false;
        moved_.clear();
    }

    void read_columns(const std::string& line) {
        if (!take_apart(line, fields_))
            fail("a quotation mark is not closed.");
        columns_ = fields_.size();
        const auto find = [&](const char* name) {
            const auto at = std::find(fields_.begin(), fields_.end(), name);
            return at == fields_.end() ? kNowhere : static_cast<std::size_t>(at - fields_.begin());
        };
        region_ = find("region");
        mean_ = find("mean");
        capture_ = find("capture_s");
        arrival_ = find("arrival_s");
        sequence_ = find("sequence");
        warming_up_ = find("warming_up");
        const char* missing = region_ == kNowhere                            ? "region"
                              : mean_ == kNowhere                            ? "mean"
                              : capture_ == kNowhere && arrival_ == kNowhere ? "capture_s"
                                                                             : nullptr;
        if (missing)
            fail(std::string("there is no column '") + missing +
                 "'; allowed: a table that --traces wrote, or one with the columns capture_s, region, mean.");
    }

    bool whole(const std::string& line) { return take_apart(line, fields_) && fields_.size() == columns_; }

    double number(std::size_t column, const char* name) const {
        if (column == kNowhere)
            return std::numeric_limits<double>::quiet_NaN();
        if (const auto value = number_of(fields_[column]))
            return *value;
        fail(std::string(name) + " is '" + fields_[column].substr(0, 32) +
             "'; allowed: a number, or nothing.");
    }

    void read_row(const std::string& line) {
        if (!take_apart(line, fields_))
            fail("a quotation mark is not closed.");
        if (fields_.size() != columns_)
            fail("it has " + std::to_string(fields_.size()) + " fields, and the table " +
                 std::to_string(columns_) + " columns.");
        leave_out_others();
        const double capture = number(capture_, "capture_s"), arrival = number(arrival_, "arrival_s");
        const double mean = number(mean_, "mean");
        const auto [at, added] = index_.try_emplace(fields_[region_], table_.regions.size());
        if (added) {
            if (table_.regions.size() == kMostRegions)
                fail("there are more than " + std::to_string(kMostRegions) + " regions.");
            table_.regions.push_back({fields_[region_], {}, {}, {}});
            arrivals_.emplace_back();
        }
        ++table_.rows;
        const std::uint64_t sequence =
            sequence_ == kNowhere ? kNoSequence : whole_of(fields_[sequence_]).value_or(kNoSequence);
        (void)number(sequence_, "sequence");
        timed_ = timed_ || std::isfinite(capture);
        if (number(warming_up_, "warming_up") > 0) {
            ++table_.in_warmup;
            return;
        }
        RegionTrace& trace = table_.regions[at->second];
        trace.times.push_back(capture);
        trace.values.push_back(mean);
        arrivals_[at->second].push_back(arrival);
        trace.sequences.push_back(sequence);
        advances_ = advances_ || capture > trace.times.front();
    }

    /// Uses the capture times unless they are constant.
    void choose_clock() {
        if (capture_ != kNowhere && !timed_ && !table_.regions.empty())
            throw UsageError(
                "'" + path_ +
                "' has no capture times, because its frame rate was not given. Record the traces "
                "again with --rate.");
        table_.clock = advances_ || arrival_ == kNowhere ? "capture_s" : "arrival_s";
        if (table_.clock == "arrival_s")
            for (std::size_t i = 0; i < arrivals_.size(); ++i)
                table_.regions[i].times = std::move(arrivals_[i]);
    }

    static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

    std::string path_;
    Lines lines_;
    TraceTable table_;
    std::vector<std::string> fields_;
    std::size_t columns_ = 0;
    std::size_t region_ = kNowhere, mean_ = kNowhere, capture_ = kNowhere, arrival_ = kNowhere;
    std::size_t sequence_ = kNowhere, warming_up_ = kNowhere;
    std::map<std::uint64_t, TableEvent> events_;
    std::unordered_map<std::string, std::size_t> index_;
    std::vector<std::vector<double>> arrivals_;
    bool advances_ = false, timed_ = false; ///< of the capture times: they differ; they exist
    std::string chain_, channel_, full_scale_;
    std::map<std::string, std::string> outlines_; ///< of regions, by name
    std::set<std::string> moved_;                 ///< regions with another outline in the next row
    double exposure_ms_ = 0;                      ///< 0: not known yet
    bool others_ = false;                         ///< the next row has other settings than those before
};

} // namespace

TraceTable read_trace_table(const std::string& path) { return Reader(path).read(); }

} // namespace specklescope
