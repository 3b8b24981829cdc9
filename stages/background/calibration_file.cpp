#include "stages/background/background.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "files/npy_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

namespace specklescope {

namespace {

constexpr std::size_t kMostPages = std::numeric_limits<int>::max();

/// A file name with an optional page number.
struct PageName {
    std::string path;
    int page = 0; ///< 0: all
};

PageName page_name(const std::string& what, const std::string& name) {
    constexpr std::string_view key = "?page=";
    const std::size_t at = name.rfind(key);
    std::error_code none;
    if (at == std::string::npos || std::filesystem::exists(name, none))
        return {name, 0};
    const char* const end = name.data() + name.size();
    PageName taken{name.substr(0, at), 0};
    const auto [next, error] = std::from_chars(name.data() + at + key.size(), end, taken.page);
    if (error != std::errc{} || next != end || taken.page < 1)
        throw UsageError(what + " '" + name + "': page = " + name.substr(at + key.size()) +
                         " is not a page; allowed: a whole number from 1, or no ?page= for the mean of all.");
    return taken;
}

/// Sums over pages of the input's size; counts the pages found and the pages added.
class PageSums {
public:
    PageSums(std::string what, PageName name, const Shape& input, std::size_t stride, PagesUsed used)
        : what_(std::move(what)), name_(std::move(name)), input_(input), stride_(stride),
          last_(used == PagesUsed::last && name_.page == 0) {}

    /// Call for the next page; false if it is not requested.
    bool wants(const Shape& page) {
        ++pages_;
        if (name_.page != 0 && name_.page != pages_)
            return false;
        check_size(page);
        make_room();
        if (last_) {
            taken_ = 0;
            std::fill(sums_.begin(), sums_.end(), 0.0);
        }
        ++taken_;
        return true;
    }
    /// Used instead of wants() for a stack of `pages` pages; add() then gets only the requested numbers.
    void begin(const Shape& page, int pages) {
        check_size(page);
        pages_ = pages;
        if (last_)
            name_.page = pages;
        if (name_.page > pages)
            return;
        taken_ = name_.page == 0 ? pages : 1;
        make_room();
    }
    int pages() const { return pages_; }
    int taken() const { return taken_; }
    int first() const { return std::max(name_.page, 1); } ///< first page to add, counted from 1
    void hold(const Quantity& quantity) { quantity_ = quantity; }
    bool complete() const { return name_.page != 0 && taken_ > 0; }

    template <class T> void add_row(int y, const T* samples) {
        double* const row = sums_.data() + static_cast<std::size_t>(y) * stride_;
        for (int x = 0; x < input_.width * input_.channels; ++x)
            row[x] += static_cast<double>(samples[x]);
    }

    void add(std::size_t x, std::size_t y, float sample) {
        sums_[y * stride_ + x] += static_cast<double>(sample);
    }

    [[noreturn]] void refuse(const std::string& is) const {
        throw UsageError(what_ + " '" + name_.path + "' " + is + "; it must be as large as the input, " +
                         std::to_string(input_.width) + "x" + std::to_string(input_.height) +
                         " pixels with " + std::to_string(input_.channels) +
                         (input_.channels == 1 ? " channel." : " channels."));
    }

    CalibrationFile mean() const {
        if (pages_ == 0)
            refuse("holds no image");
        if (taken_ == 0)
            throw UsageError(what_ + " '" + name_.path + "' has no page " + std::to_string(name_.page) +
                             "; allowed: 1…" + std::to_string(pages_) +
                             ", or no ?page= for the mean of all.");
        CalibrationFile file{{}, taken_, quantity_};
        file.plane.reserve(sums_.size());
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            if (i % (kFilledAtOnce / sizeof(double)) == 0)
                goes_on();
            file.plane.push_back(static_cast<float>(sums_[i] / taken_));
        }
        return file;
    }

private:
    void check_size(const Shape& page) const {
        if (page.width != input_.width || page.height != input_.height || page.channels != input_.channels)
            refuse((pages_ > 1 ? "is " + to_string(page) + " on page " + std::to_string(pages_)
                               : "is " + to_string(page)));
    }
    /// Checks the memory for the sums and their mean; once.
    void make_room() {
        if (!sums_.empty())
            return;
        const std::size_t samples = stride_ * static_cast<std::size_t>(input_.height);
        check_memory(samples * (sizeof(double) + sizeof(float)), what_ + " '" + name_.path + "'",
                     "give smaller frames");
        fill_up(sums_, samples, 0.0, averaging());
    }
    std::string averaging() const { return "averaging '" + name_.path + "'"; }
    void goes_on() const { work_goes_on(averaging()); }

    std::string what_;
    PageName name_;
    Shape input_;
    std::size_t stride_;
    bool last_; ///< only the last page counts
    std::vector<double> sums_;
    int pages_ = 0, taken_ = 0;
    Quantity quantity_{};
};

void add_images(const std::string& path, PageSums& sums) {
    const std::unique_ptr<ImageReader> reader = open_image(path);
    std::vector<std::byte> pixels;
    while (!sums.complete()) {
        const std::optional<Shape> page = reader->next_page();
        if (!page)
            return;
        if (!sums.wants(*page))
            continue;
        sums.hold(reader->recorded().quantity);
        // In bands, so that it can be cancelled.
        constexpr int kRows = 64;
        Shape band = *page;
        for (int first = 0; first < page->height; first += band.height) {
            work_goes_on("averaging page " + std::to_string(sums.pages()) + " of '" + path + "'");
            band.height = std::min(kRows, page->height - first);
            pixels.resize(band.bytes());
            const HostView view(pixels.data(), band);
            reader->read_rows(view);
            dispatch(band.type, [&](auto zero) {
                const auto rows = view.as<decltype(zero)>();
                for (int y = 0; y < rows.height; ++y)
                    sums.add_row(first + y, rows.row(y));
            });
        }
    }
}

/// height×width or a stack of these; three channels have a last axis of 3.
void add_array(const std::string& path, const Shape& input, PageSums& sums) {
    NpyFile file(path);
    std::vector<std::size_t> sides = file.shape();
    const bool colour = input.channels == 3 && sides.size() > 2 && sides.back() == 3;
    if (colour)
        sides.pop_back();
    if (sides.size() == 2)
        sides.insert(sides.begin(), 1);
    if (sides.size() != 3 || sides[2] > kMaxSide || sides[1] > kMaxSide || sides[0] > kMostPages) {
        std::string text;
        for (const std::size_t side : file.shape())
            text += (text.empty() ? "" : "×") + std::to_string(side);
        sums.refuse("holds an array of " + text);
    }
    const Shape page{static_cast<int>(sides[2]), static_cast<int>(sides[1]), colour ? 3 : 1, PixelType::f32};
    sums.begin(page, static_cast<int>(sides[0]));
    // Pages are not stored: numbers are added to the sums in runs of at most one row.
    const std::size_t row = page.row_bytes() / sizeof(float), samples = page.samples();
    const std::size_t first = static_cast<std::size_t>(sums.first() - 1) * samples,
                      end = first + static_cast<std::size_t>(sums.taken()) * samples;
    for (NpyFile::Piece piece = file.next(); !piece.values.empty(); piece = file.next())
        for (std::size_t i = 0; i < piece.values.size();) {
            std::size_t place = piece.places[i];
            if (place < first || place >= end) {
                ++i;
                continue;
            }
            const std::size_t y = place % samples / row;
            for (std::size_t x = place % row; x < row && i < piece.values.size() && piece.places[i] == place;
                 ++x, ++i, ++place)
                sums.add(x, y, piece.values[i]);
        }
}

} // namespace

CalibrationFile read_calibration(const std::string& what, const std::string& name, const Shape& input,
                                 std::size_t stride, PagesUsed used) {
    const PageName taken = page_name(what, name);
    PageSums sums(what, taken, input, stride, used);
    try {
        if (is_npy(taken.path))
            add_array(taken.path, input, sums);
        else
            add_images(taken.path, sums);
    } catch (const RunError& error) { // a wrong name in an edit must not end the run
        throw UsageError(what + ": " + error.what());
    }
    return sums.mean();
}

} // namespace specklescope
