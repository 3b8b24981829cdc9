// Images and films in NumPy's .npy files. Frames that lie one after the other are read one by one; in any
// other order the numbers are read whole.
#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "files/npy_file.hpp"
#include "files/npy_stream.hpp"

#include <algorithm>
#include <limits>

namespace specklescope {

namespace {

class NpyFrames {
public:
    NpyFrames(NpyStream stream, const std::string& asked)
        : path_(stream.path), compressed_(stream.compressed),
          array_(path_, std::move(stream.file), stream.size, std::numeric_limits<std::uint64_t>::max()),
          axes_(axes_of(array_, asked, path_)) {
        if (array_.fortran()) { // the last axis is the slowest
            std::reverse(axes_.sides.begin(), axes_.sides.end());
            std::reverse(axes_.letters.begin(), axes_.letters.end());
        }
    }

    const std::byte* frame_at(std::uint64_t frame) {
        const std::size_t each = array_.kind().bytes;
        const std::uint64_t first = frame * axes_.step('t');
        if (axes_.letters.find('t') == 0) { // frames lie one after the other
            read(first * each, axes_.step('t') * each);
            return read_.data();
        }
        if (read_.empty())
            read(0, array_.count() * each);
        return read_.data() + first * each;
    }

    FilmLayout layout(const std::shared_ptr<NpyFrames>& self) const {
        return film_of_array("NPY", axes_, array_.kind(), array_.swapped(),
                             [self](std::uint64_t frame) { return self->frame_at(frame); });
    }

private:
    static FilmAxes axes_of(const NpyFile& array, const std::string& asked, const std::string& path) {
        const std::vector<std::size_t>& sides = array.shape();
        const std::size_t last = sides.back();
        const bool colours = last == 3 || last == 4;
        const bool film = sides.size() == 4 && (colours || last == 1);
        FilmAxes axes{.sides = {sides.begin(), sides.end()}};
        if (sides.size() < 2 || (sides.size() == 4 && !film && asked.empty()))
            throw RunError(
                "'" + path + "' holds an array of " + axes.text() +
                ", which is not an image; allowed: height × width, frames × height × width, and 3 or 4 "
                "channels as a last axis.");
        // A film in Fortran order may come from MATLAB, with time as the last axis.
        const std::string usual = sides.size() == 2 ? "hw"
                                  : film            ? "thwc"
                                  : colours         ? "hwc"
                                  : array.fortran() ? ""
                                                    : "thw";
        return film_axes(std::move(axes.sides), asked, usual, "'" + path + "'");
    }

    void read(std::uint64_t first, std::uint64_t bytes) {
        check_memory(bytes, "'" + path_ + "'", "save it as time × height × width");
        const auto at = static_cast<off_t>(array_.offset() + first);
        constexpr off_t kStep = off_t{16} << 20; // passing over compressed bytes takes time
        bool good = true;
        for (off_t here = ftello(array_.file()); compressed_ && good && at - here > kStep; here += kStep) {
            work_goes_on("reading '" + path_ + "'");
            good = fseeko(array_.file(), here + kStep, SEEK_SET) == 0;
        }
        good = fseeko(array_.file(), at, SEEK_SET) == 0;
        read_.clear();
        while (good && read_.size() < bytes) {
            const std::size_t done = read_.size();
            work_goes_on("reading '" + path_ + "'", static_cast<double>(done) / static_cast<double>(bytes));
            read_.resize(std::min<std::uint64_t>(bytes, done + kStep));
            good =
                std::fread(read_.data() + done, 1, read_.size() - done, array_.file()) == read_.size() - done;
        }
        if (!good) {
            read_.clear();
            throw RunError("'" + path_ + "' is cut short.");
        }
    }

    std::string path_;
    bool compressed_;
    NpyFile array_;
    FilmAxes axes_;
    std::vector<std::byte> read_;
};

} // namespace

std::unique_ptr<ImageReader> open_npy(NpyStream stream, const StackChoice& choice) {
    const std::string path = stream.path;
    const auto frames = std::make_shared<NpyFrames>(std::move(stream), choice.axes);
    return open_film(std::make_shared<const FilmBytes>(path), frames->layout(frames));
}

std::unique_ptr<ImageReader> open_npy(const std::string& path, const StackChoice& choice) {
    return open_npy(NpyStream{.path = path, .size = input_size(path), .file = open_input(path)}, choice);
}

} // namespace specklescope
