// A table of text that grows by whole lines, whatever happens to the process.
#pragma once

#include "files/replaceable.hpp"
#include "files/whole_file.hpp"
#include "recording/batch_sink.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Whole lines of several frames.
struct FrameLines {
    std::string text;
    std::vector<std::size_t> ends; ///< in the text, of each frame's
};

class TableFile {
public:
    /// What becomes of whatever has the name.
    enum class Taken : std::uint8_t {
        is_replaced, ///< it may be (check_table)
        stays        ///< and the table gets a number
    };
    TableFile() = default;
    /// Begins the file anew with `begin`, whole lines. Throws RunError.
    TableFile(const std::string& path, std::string_view begin, Taken taken = Taken::is_replaced);
    /// Whole lines (append_lines of recording/line_pages.hpp). Throws RunError; then the lines that the disk
    /// took are there, and no part of one.
    void append(std::string_view lines);
    /// The same, and tells what is in the file of it, also where it throws.
    void append(const FrameLines& lines, Written& written);
    /// Throws RunError.
    void close();
    std::uint64_t bytes() const { return end_; }
    const std::string& path() const { return path_; }

private:
    void append_front(std::string_view& lines);

    std::string path_;
    File file_;
    std::uint64_t end_ = 0; ///< of the last whole line
};

/// Throws RunError where no table could be made at `path`, or where something is that is no table of this
/// kind, or one that another run is writing: they are never replaced.
void check_table(const std::string& path, const ReplaceableKind& kind);

} // namespace specklescope
