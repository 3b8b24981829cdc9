// Files of an image source (one file, a folder, or a numbered sequence), and the positions of their frames.
#pragma once

#include "files/tiff_stack.hpp"
#include "pipeline/frame.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// True if the file name (not the folder) contains one %d, %4d or %04d.
bool is_number_pattern(std::string_view path);
/// True if a file with this name can be part of the sequence `pattern`.
bool may_be_in_sequence(std::string_view pattern, const std::string& name);

/// Files of `path`, in order. A folder: every image in it, with numbers in names compared by value (img2
/// before img10). A pattern: from the lowest existing number to the first missing one; logs a warning if
/// there are more after the gap. Throws RunError if there are none.
std::vector<std::string> list_images(const std::string& path);

/// img2 < img10 < img10b.
bool natural_less(std::string_view a, std::string_view b);

// Positions of frames in the files of an image source. Used only by image_source.cpp.

/// Selection of a file's frames.
struct FramesWanted {
    int rows = 0;         ///< per frame, 0: the whole page
    StackChoice choice{}; ///< channels and slices
};

/// Position of one frame.
struct ImagePlace {
    std::size_t file = 0;
    std::uint64_t page = 0;
    int row = 0; ///< first row, if a page is cut into frames
};

/// Number of frames in each file, counted on demand. A single file that cannot be read to its end ends the
/// count; one of several counts as far as it can be read.
class ImageIndex {
public:
    /// Opens files until frame number `frame` is found or all are counted. Throws Cancelled.
    void count(const std::vector<std::string>& files, const FramesWanted& wanted, std::uint64_t frame);
    /// Opens the first `at_least` files, and more within `patience`. Throws Cancelled.
    void count_ahead(const std::vector<std::string>& files, const FramesWanted& wanted, std::size_t at_least,
                     std::chrono::milliseconds patience);
    /// Discards what may have changed: the last file may have grown, and files may have been added.
    void look_again(const std::vector<std::string>& before, const std::vector<std::string>& now);

    std::uint64_t frames() const;                        ///< counted so far
    std::uint64_t frames_before(std::size_t file) const; ///< `file`: one that is counted
    /// Frames of one file, counted earlier or now.
    std::uint64_t frames_of(const std::vector<std::string>& files, const FramesWanted& wanted,
                            std::size_t file) const;
    bool all_of(const std::vector<std::string>& files) const {
        return broken_ || counts_.size() == files.size();
    }
    /// A file cannot be read to its end: the count ends there.
    bool broken() const { return broken_; }
    /// Position of a counted frame. Throws RunError.
    ImagePlace place(const std::vector<std::string>& files, const FramesWanted& wanted,
                     std::uint64_t frame) const;

private:
    /// False if there is no further file, or it cannot be read.
    bool count_next(const std::vector<std::string>& files, const FramesWanted& wanted);

    std::vector<std::uint64_t> counts_; ///< of the first files
    bool broken_ = false;
};

} // namespace specklescope
