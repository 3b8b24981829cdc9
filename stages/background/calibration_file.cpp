#include "stages/background/calibration_file.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "files/image_file.hpp"
#include "files/npy_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace specklescope {

namespace {

/// A name as it was written, taken apart.
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
                         " is no page; allowed: a whole number from 1, or no ?page= for the mean of all.");
    return taken;
}

/// Sums of pages of the input's size, and how many there were and were taken.
class PageSums {
public:
    PageSums(std::string what, PageName name, const Shape& input, std::size_t stride)
        : what_(std::move(what)), name_(std::move(name)), input_(input), stride_(stride) {}

    /// The next page; false: it is not wanted.
    bool wants(const Shape& page) {
        ++pages_;
        if (name_.page != 0 && name_.page != pages_)
            return false;
        if (page.width != input_.width || page.height != input_.height || page.channels != input_.channels)
            refuse((pages_ > 1 ? "is " + to_string(page) + " on page " + std::to_string(pages_)
                               : "is " + to_string(page)));
        check_memory(stride_ * static_cast<std::size_t>(input_.height) * sizeof(double),
                     what_ + " '" + name_.path + "'", "give smaller frames");
        if (sums_.empty())
            sums_.assign(stride_ * static_cast<std::size_t>(input_.height), 0);
        ++taken_;
        return true;
    }
    int pages() const { return pages_; }
    bool complete() const { return name_.page != 0 && taken_ > 0; }

    template <class T> void add_row(int y, const T* samples) {
        double* const row = sums_.data() + static_cast<std::size_t>(y) * stride_;
        for (int x = 0; x < input_.width * input_.channels; ++x)
            row[x] += static_cast<double>(samples[x]);
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
        CalibrationFile file{{}, taken_};
        file.plane.resize(sums_.size());
        for (std::size_t i = 0; i < sums_.size(); ++i)
            file.plane[i] = static_cast<float>(sums_[i] / taken_);
        return file;
    }

private:
    std::string what_;
    PageName name_;
    Shape input_;
    std::size_t stride_;
    std::vector<double> sums_;
    int pages_ = 0, taken_ = 0;
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
        // By bands, between which it can be stopped.
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

/// height×width or a stack of them; with three channels ×3 at the end.
void add_array(const std::string& path, const Shape& input, PageSums& sums) {
    const NpyArray array = read_npy(path);
    std::vector<std::size_t> sides = array.shape;
    const bool colour = input.channels == 3 && sides.size() > 2 && sides.back() == 3;
    if (colour)
        sides.pop_back();
    if (sides.size() < 2 || sides.size() > 3 || sides[sides.size() - 1] > kMaxSide ||
        sides[sides.size() - 2] > kMaxSide) {
        std::string text;
        for (const std::size_t side : array.shape)
            text += (text.empty() ? "" : "×") + std::to_string(side);
        sums.refuse("holds an array of " + text);
    }
    const Shape page{static_cast<int>(sides[sides.size() - 1]), static_cast<int>(sides[sides.size() - 2]),
                     colour ? 3 : 1, PixelType::f32};
    const auto row = static_cast<std::size_t>(page.width) * static_cast<std::size_t>(page.channels);
    const float* samples = array.values.data();
    for (std::size_t i = 0; i < (sides.size() == 3 ? sides[0] : 1); ++i) {
        const bool wanted = sums.wants(page);
        for (int y = 0; y < page.height; ++y, samples += row)
            if (wanted)
                sums.add_row(y, samples);
        work_goes_on("averaging '" + path + "'");
    }
}

} // namespace

CalibrationFile read_calibration(const std::string& what, const std::string& name, const Shape& input,
                                 std::size_t stride) {
    const PageName taken = page_name(what, name);
    PageSums sums(what, taken, input, stride);
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
