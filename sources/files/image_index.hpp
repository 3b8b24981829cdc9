// Which frame lies where in the files of an image source. Used by image_source.cpp alone.
#pragma once

#include "files/tiff_stack.hpp"
#include "pipeline/frame.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// What of a file are frames.
struct FramesWanted {
    int rows = 0;         ///< of a frame, 0: the whole page
    StackChoice choice{}; ///< of its channels and slices
};

/// Of one frame.
struct ImagePlace {
    std::size_t file = 0;
    std::uint64_t page = 0;
    int row = 0; ///< its first one, where a page is cut into frames
};

/// Frames of each file, counted as far as anyone has asked. A file that cannot be read to its end ends it, or
/// is one of several and counts as far as it can be read.
class ImageIndex {
public:
    /// Opens files until frame number `frame` lies in one of them, or all are counted. Throws
    /// Cancelled.
    void count(const std::vector<std::string>& files, const FramesWanted& wanted, std::uint64_t frame);
    /// Opens the first `at_least` files, and more of them as long as the patience lasts. Throws Cancelled.
    void count_ahead(const std::vector<std::string>& files, const FramesWanted& wanted, std::size_t at_least,
                     std::chrono::milliseconds patience);
    /// Forgets what may have changed: the last file may have grown, and there may be others.
    void look_again(const std::vector<std::string>& before, const std::vector<std::string>& now);

    std::uint64_t frames() const;                        ///< counted up to now
    std::uint64_t frames_before(std::size_t file) const; ///< `file`: one of those counted
    /// Frames of one file, counted before or now.
    std::uint64_t frames_of(const std::vector<std::string>& files, const FramesWanted& wanted,
                            std::size_t file) const;
    bool all_of(const std::vector<std::string>& files) const {
        return broken_ || counts_.size() == files.size();
    }
    /// A file cannot be read to its end: what is counted ends there.
    bool broken() const { return broken_; }
    /// Of a frame that is counted. Throws RunError.
    ImagePlace place(const std::vector<std::string>& files, const FramesWanted& wanted,
                     std::uint64_t frame) const;

private:
    /// False if there is no further file, or none that can be read.
    bool count_next(const std::vector<std::string>& files, const FramesWanted& wanted);

    std::vector<std::uint64_t> counts_; ///< of the first files
    bool broken_ = false;
};

} // namespace specklescope
