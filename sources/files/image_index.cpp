#include "sources/files/image_index.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "files/image_file.hpp"

#include <algorithm>
#include <numeric>

namespace specklescope {

namespace {

std::uint64_t frames_on(const Shape& page, int rows) {
    return rows > 0 ? static_cast<std::uint64_t>(page.height / rows) : 1;
}

struct Count {
    std::uint64_t frames = 0;
    bool whole = true; ///< the file could be read to its end
};

Count frames_in(const std::string& file, const FramesWanted& wanted, bool alone) {
    Count count;
    try {
        const std::unique_ptr<ImageReader> reader = open_image(file, wanted.choice);
        if (const std::uint64_t pages = wanted.rows > 0 ? 0 : reader->pages(); pages > 0)
            return {.frames = pages, .whole = true};
        while (const std::optional<Shape> page = reader->next_page()) {
            work_goes_on("counting the frames of " + file);
            count.frames += frames_on(*page, wanted.rows);
        }
    } catch (const RunError&) { // reported when the file is read
        count.whole = !alone;   // with several files, the others are read
    } catch (const Cancelled&) {
        throw;
    } catch (const UsageError&) { // as above
        count.whole = false;
    }
    return count;
}

} // namespace

void ImageIndex::count(const std::vector<std::string>& files, const FramesWanted& wanted,
                       std::uint64_t frame) {
    std::uint64_t frames = this->frames();
    while (frames <= frame && count_next(files, wanted))
        frames += counts_.back();
}

void ImageIndex::count_ahead(const std::vector<std::string>& files, const FramesWanted& wanted,
                             std::size_t at_least, std::chrono::milliseconds patience) {
    const SteadyClock::time_point until = SteadyClock::now() + patience;
    while ((counts_.size() < at_least || SteadyClock::now() < until) && count_next(files, wanted)) {
    }
}

bool ImageIndex::count_next(const std::vector<std::string>& files, const FramesWanted& wanted) {
    if (broken_ || counts_.size() >= files.size())
        return false;
    work_goes_on("counting frames", static_cast<double>(counts_.size()) / static_cast<double>(files.size()));
    const Count next = frames_in(files[counts_.size()], wanted, files.size() == 1);
    counts_.push_back(next.frames);
    broken_ = !next.whole;
    return true;
}

void ImageIndex::look_again(const std::vector<std::string>& before, const std::vector<std::string>& now) {
    const auto same = static_cast<std::size_t>(
        std::mismatch(before.begin(), before.end(), now.begin(), now.end()).first - before.begin());
    const std::size_t kept = counts_.empty() ? 0 : counts_.size() - 1; // the last file may have grown
    counts_.resize(std::min(kept, same));
    broken_ = false;
}

std::uint64_t ImageIndex::frames() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t ImageIndex::frames_before(std::size_t file) const {
    return std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(file),
                           std::uint64_t{0});
}

std::uint64_t ImageIndex::frames_of(const std::vector<std::string>& files, const FramesWanted& wanted,
                                    std::size_t file) const {
    return file < counts_.size() ? counts_[file] : frames_in(files[file], wanted, files.size() == 1).frames;
}

ImagePlace ImageIndex::place(const std::vector<std::string>& files, const FramesWanted& wanted,
                             std::uint64_t frame) const {
    ImagePlace place;
    while (place.file + 1 < counts_.size() && frame >= counts_[place.file])
        frame -= counts_[place.file++];
    if (wanted.rows == 0) {
        place.page = frame;
        return place;
    }
    const std::unique_ptr<ImageReader> reader = open_image(files[place.file], wanted.choice);
    while (const std::optional<Shape> page = reader->next_page()) {
        const std::uint64_t here = frames_on(*page, wanted.rows);
        if (frame < here)
            break;
        frame -= here;
        ++place.page;
    }
    place.row = static_cast<int>(frame) * wanted.rows;
    return place;
}

} // namespace specklescope
