// Tables of text that grow while the program runs: the file, and numbers, names and comments in it.
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
    std::vector<std::size_t> ends; ///< of the lines of each frame in the text
};

/// Appends whole lines and stores them about once a second. After a kill the last row may be incomplete; it
/// has no line end then.
class TableFile {
public:
    /// For an existing file of that name.
    enum class Taken : std::uint8_t {
        is_replaced, ///< check_table() has allowed it
        stays        ///< the table gets a numbered name
    };
    TableFile() = default;
    /// Creates the file with `begin`, whole lines. Throws RunError.
    TableFile(const std::string& path, std::string_view begin, Taken taken = Taken::is_replaced);
    /// Throws RunError; the file then ends with the last line that the disk had room for.
    void append(std::string_view lines);
    /// The same. Counts in `written` what is in the file, also where it throws.
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

/// Throws RunError if no table can be created at `path`, if a file of another kind is there, or if another
/// run is writing a table there.
void check_table(const std::string& path, const ReplaceableKind& kind);

/// The shortest text that reads back as the same number; nan, inf, -inf.
void add_number(std::string& text, double value);
void add_whole(std::string& text, std::uint64_t value);
/// Seconds with all nine digits, which a float64 does not hold.
void add_seconds(std::string& text, std::int64_t ns);
/// The capture time in seconds; nothing where it is unknown.
void add_capture(std::string& text, const FrameInfo& info);
std::int64_t ns_of(SteadyClock::time_point time);

/// In quotes where RFC 4180 requires them, and with a #, which readers take for the begin of a comment.
std::string csv_text(const std::string& text);

/// "# version 3, chain: speckle:radius=3\n": a setting that applies to the rows after it.
std::string setting_line(std::uint64_t version, const char* what, const std::string& value);
/// The exposure as a setting; "unknown" where it is.
std::string exposure_line(std::uint64_t version, const Exposure& exposure);

} // namespace specklescope
