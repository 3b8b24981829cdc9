// Reading image files row by row: PNG by libpng, JPEG by libjpeg, TIFF by libtiff,
// Radiance by hand, OpenEXR by OpenEXR. The contents decide which,
// not the ending. Nothing of what the libraries have to say reaches the terminal: it is part of the RunError.
#pragma once

#include "files/file_scale.hpp"
#include "files/recorded.hpp"
#include "files/tiff_stack.hpp"
#include "files/transfer.hpp"
#include "pipeline/image.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

/// Largest value that a sample can have, as the file states it.
struct StatedFullScale {
    double value = 0; ///< 0: none, or the type's own
    std::string by{}; ///< "its MaxSampleValue"; empty: the largest value of its kind of sample
};

/// One file with one or more pages. Rows come strictly from top to bottom, so that a tall image can be taken
/// in parts.
class ImageReader {
public:
    /// Bytes of rows between two questions whether the work goes on (base/long_work.hpp), or one row.
    static constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20;

    explicit ImageReader(std::string path) : path_(std::move(path)) {}
    ImageReader(const ImageReader&) = delete;
    ImageReader& operator=(const ImageReader&) = delete;
    virtual ~ImageReader() = default;
    /// Header of the next page, whose rows then follow; nothing after the last page. The first call gives the
    /// first page. Throws RunError if the page is of a kind that cannot be read.
    virtual std::optional<Shape> next_page() = 0;
    /// Header of page number `page`, from 0, as next_page() would give it on its way; nothing where there is
    /// no such page, or where this reader would have to go back and cannot.
    virtual std::optional<Shape> go_to(std::uint64_t page) = 0;
    /// The next to.shape.height rows of the page. Throws RunError where the file is damaged or cut short, and
    /// Cancelled.
    void read_rows(HostView to);
    /// Pages in the file, each a frame; walks through it, for TIFF. 0: unknown. To be asked before the second
    /// page.
    virtual std::uint64_t pages() = 0;
    /// What a recording of ours says of the present page; nothing in any other file.
    const Recorded& recorded() const { return recorded_.now(); }
    /// What it has said that cannot be and was left out: RecordedText::doubts().
    const std::vector<std::string_view>& doubts() const { return recorded_.doubts(); }
    /// How large its pixels are, whoever wrote it: as a recording of ours says, or as other programs do.
    virtual FileScale scale() const { return {.um_per_px = recorded().um_per_px}; }
    /// The text of the present page from which recorded() was read, as it stands there; empty where there is
    /// none.
    const std::string& description() const { return description_; }
    /// Sentences on what was chosen of a file with several axes; empty where there was no choice.
    virtual const std::string& remark() const {
        static const std::string none;
        return none;
    }
    /// How the values of the present page are coded: as the file says, or as is usual of its kind.
    virtual Coding coding() const = 0;
    /// Full scale of the samples of the present page.
    virtual StatedFullScale full_scale() const { return {}; }
    /// Facts about the present page that the user should know, each to be put after the file's name:
    /// "is turned by its orientation 6". Complete when its rows have been read.
    const std::vector<std::string>& remarks() const { return remarks_; }
    /// "JPEG" where the present page is coded with loss; empty where it is not.
    virtual std::string lossy() const { return {}; }

protected:
    virtual void take_rows(HostView to) = 0; ///< as read_rows()
    /// Says that the file is being read; throws Cancelled.
    void goes_on() const;
    /// Begins a page of `stored` pixels with an orientation of TIFF and Exif, 1…8. Returns the shape of the
    /// upright picture, whose rows read_rows() then gives.
    Shape begin_oriented(const Shape& stored, unsigned orientation);

    const std::string path_;
    std::string description_;
    RecordedText recorded_; ///< as it was read from that
    std::vector<std::string> remarks_;
    Shape stored_; ///< of begin_oriented()

private:
    void read_bands(HostView to);
    void turn_rows(HostView to);

    unsigned orientation_ = 1;
    std::vector<std::byte> turned_; ///< all of a page that is turned, as stored
    int upright_row_ = 0;           ///< the next row of the upright picture
};

/// A file of one image: whoever derives sets shape_.
class SingleImageReader : public ImageReader {
public:
    using ImageReader::ImageReader;
    std::optional<Shape> next_page() final {
        return std::exchange(given_, true) ? std::nullopt : std::optional(shape_);
    }
    std::uint64_t pages() final { return 1; }
    std::optional<Shape> go_to(std::uint64_t page) final { return page == 0 ? next_page() : std::nullopt; }

protected:
    Shape shape_;

private:
    bool given_ = false;
};

/// Throws RunError: no such file, not an image, a damaged header.
/// - PNG: 1…16 bits grey (1, 2, 4 are spread over 0…255), 8/16-bit RGB, palette (as RGB)
/// - JPEG: grey, colour (as RGB)
/// - TIFF: 1-bit (0, 255), 2…16-bit unsigned as integers; signed and wider integers and 16, 24, 32 and 64-bit
///   float as 32-bit float; grey, RGB or palette; strips or tiles, one plane or several, any compression
///   libtiff knows, BigTIFF, both byte orders; previews and masks among the pages are passed over; "white is
///   zero" is turned round
/// - PNG, JPEG and TIFF are turned upright by their orientation
/// - Radiance .hdr: RGBE, plain or run-length coded, divided by its EXPOSURE, rows from the top
/// - OpenEXR, where this was built with it: the first part's R, G, B or Y or only channel, as 32-bit float
/// Transparency is dropped.
/// `choice`: of a TIFF with several channels or slices. Throws UsageError where it has no such one.
std::unique_ptr<ImageReader> open_image(const std::string& path, const StackChoice& choice = {});

// By kind; open_image chooses.
std::unique_ptr<ImageReader> open_png(const std::string& path);
std::unique_ptr<ImageReader> open_jpeg(const std::string& path);
std::unique_ptr<ImageReader> open_tiff(const std::string& path, const StackChoice& choice = {});
std::unique_ptr<ImageReader> open_hdr(const std::string& path);
std::unique_ptr<ImageReader> open_exr(const std::string& path); ///< RunError in a build without OpenEXR

} // namespace specklescope
