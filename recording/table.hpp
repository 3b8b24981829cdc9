// Text tables that grow while the program runs: the file, and formatting of numbers, names and comments.
#pragma once

#include "files/whole_file.hpp"
#include "pipeline/chain.hpp"
#include "pipeline/frame.hpp"
#include "recording/batch_sink.hpp"
#include "recording/disk_sync.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Whole lines of several frames.
struct FrameLines {
    std::string text;
    std::vector<std::size_t> ends; ///< end in the text of the lines of each frame
};

/// Appends whole lines and stores them about once a second. After a kill the last row may be incomplete; it
/// has no line end then.
class TableFile {
public:
    /// Action for an existing file of that name.
    enum class Taken : std::uint8_t {
        is_replaced, ///< replaced; check_table() has allowed it
        stays        ///< kept; the table gets a numbered name
    };
    TableFile() = default;
    /// Creates the file with `begin`, whole lines. Throws RunError.
    TableFile(const std::string& path, std::string_view begin, Taken taken = Taken::is_replaced);
    /// Throws RunError; the file then ends with the last complete line.
    void append(std::string_view lines);
    /// The same. Counts the data in the file in `written`, also if it throws.
    void append(const FrameLines& lines, Written& written);
    /// Throws RunError.
    void close();
    std::uint64_t bytes() const { return end_; }
    const std::string& path() const { return path_; }

private:
    int append_lines(std::string_view lines);

    std::string path_;
    File file_;
    std::uint64_t end_ = 0; ///< of the last whole line
    TimedSync sync_;
};

/// Throws RunError if no table can be created at `path`, if a file of another kind exists there, or if
/// another run is writing a table there.
void check_table(const std::string& path, const ReplaceableKind& kind);

/// Shortest text that reads back as the same number; nan, inf, -inf.
void add_number(std::string& text, double value);
void add_whole(std::string& text, std::uint64_t value);
/// Seconds with nine digits, more than a float64 can represent.
void add_seconds(std::string& text, std::int64_t ns);
/// Capture time in seconds; empty if unknown.
void add_capture(std::string& text, const FrameInfo& info);
std::int64_t ns_of(SteadyClock::time_point time);

/// Quoted where RFC 4180 requires it, and if it contains a #, which readers may take as a comment.
std::string csv_text(const std::string& text);

/// "# version 3, chain: speckle:radius=3\n": a setting that applies to the rows after it.
std::string setting_line(std::uint64_t version, const char* what, const std::string& value);
/// Exposure as a setting; may be "unknown".
std::string exposure_line(std::uint64_t version, const Exposure& exposure);

} // namespace specklescope
