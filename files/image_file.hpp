// Reads image files row by row: PNG by libpng, JPEG by libjpeg, TIFF by libtiff, Radiance by our own reader,
// OpenEXR by OpenEXR. The contents determine the format, not the extension. Messages of the libraries go into
// the RunError, not to the terminal.
#pragma once

#include "files/description_text.hpp"
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

/// Largest possible sample value according to the file.
struct StatedFullScale {
    double value = 0; ///< 0: none, or the type's
    std::string by{}; ///< "its MaxSampleValue"; empty: the largest value of the sample type
};

/// One file with one or more pages. Rows are read strictly from top to bottom, so that a tall image can be
/// read in parts.
class ImageReader {
public:
    /// Bytes of rows between two progress reports (base/long_work.hpp), or one row.
    static constexpr std::size_t kBytesAtOnce = std::size_t{4} << 20;

    explicit ImageReader(std::string path) : path_(std::move(path)) {}
    ImageReader(const ImageReader&) = delete;
    ImageReader& operator=(const ImageReader&) = delete;
    virtual ~ImageReader() = default;
    /// Header of the next page, whose rows follow; nothing after the last page. The first call returns the
    /// first page. Throws RunError for unsupported pages.
    virtual std::optional<Shape> next_page() = 0;
    /// Header of page number `page`, from 0, as from next_page(); nothing if there is no such page, or if
    /// this reader would have to go back and cannot.
    virtual std::optional<Shape> seek_page(std::uint64_t page) = 0;
    /// Reads the next to.shape.height rows of the page. Throws RunError if the file is damaged or truncated,
    /// and Cancelled.
    void read_rows(HostView to);
    /// Number of pages in the file, each a frame; for TIFF this reads through the file. 0: unknown. Call it
    /// before the second page.
    virtual std::uint64_t pages() = 0;
    /// Metadata of the current page in one of our recordings; empty for other files.
    const Recorded& recorded() const { return recorded_.now(); }
    /// Invalid values that were ignored: RecordedText::doubts().
    const std::vector<std::string_view>& doubts() const { return recorded_.doubts(); }
    /// Pixel size, from one of our recordings or from another program.
    virtual FileScale scale() const { return {.um_per_px = recorded().um_per_px}; }
    /// Original text that recorded() was read from, for the current page; empty if there is none.
    const std::string& description() const { return description_; }
    /// Sentences about the selection in a file with several axes; empty without a selection.
    virtual const std::string& remark() const {
        static const std::string none;
        return none;
    }
    /// Coding of the current page: from the file, or assumed for its format.
    virtual Coding coding() const = 0;
    /// Full scale of the current page.
    virtual StatedFullScale full_scale() const { return {}; }
    /// Notes about the current page for the user, to be put after the file's name: "is turned by its
    /// orientation 6". Complete after its rows have been read.
    const std::vector<std::string>& remarks() const { return remarks_; }
    /// "JPEG" if the current page has lossy compression; otherwise empty.
    virtual std::string lossy() const { return {}; }

protected:
    virtual void take_rows(HostView to) = 0; ///< for read_rows()
    /// Reports progress; throws Cancelled.
    void goes_on() const;
    /// Coding of a recording of this program.
    Coding recorded_coding() const;
    /// Starts a page of `stored` pixels with an orientation of TIFF and Exif, 1…8. Returns the shape of the
    /// upright image, whose rows read_rows() then returns. `stated`: the file has an orientation, which is
    /// remarked; otherwise it follows from the format.
    Shape begin_oriented(const Shape& stored, unsigned orientation, bool stated = true);

    const std::string path_;
    std::string description_;
    RecordedText recorded_; ///< from description_
    std::vector<std::string> remarks_;
    Shape stored_; ///< from begin_oriented()

private:
    void read_bands(HostView to);
    void turn_rows(HostView to);

    unsigned orientation_ = 1;
    std::vector<std::byte> turned_; ///< the whole rotated page, as stored
    int upright_row_ = 0;           ///< next row of the upright image
};

/// A file with one image: derived classes set shape_.
class SingleImageReader : public ImageReader {
public:
    using ImageReader::ImageReader;
    std::optional<Shape> next_page() final {
        return std::exchange(given_, true) ? std::nullopt : std::optional(shape_);
    }
    std::uint64_t pages() final { return 1; }
    std::optional<Shape> seek_page(std::uint64_t page) final {
        return page == 0 ? next_page() : std::nullopt;
    }

protected:
    Shape shape_;

private:
    bool given_ = false;
};

/// Throws RunError: no such file, not an image, a damaged header. docs/files.md lists what is read.
/// Transparency is dropped. `choice`: for a file with several channels, slices or arrays. Throws UsageError
/// if it does not exist.
std::unique_ptr<ImageReader> open_image(const std::string& path, const StackChoice& choice = {});

// Readers per format; open_image chooses.
std::unique_ptr<ImageReader> open_png(const std::string& path);
std::unique_ptr<ImageReader> open_jpeg(const std::string& path);
std::unique_ptr<ImageReader> open_tiff(const std::string& path, const StackChoice& choice = {});
std::unique_ptr<ImageReader> open_hdr(const std::string& path);
std::unique_ptr<ImageReader> open_exr(const std::string& path); ///< RunError in a build without OpenEXR
std::unique_ptr<ImageReader> open_npy(const std::string& path, const StackChoice& choice = {});
std::unique_ptr<ImageReader> open_npz(const std::string& path, const StackChoice& choice = {});
std::unique_ptr<ImageReader> open_mat5(const std::string& path, const StackChoice& choice = {});
/// RunError in a build without HDF5 (and the one before without matio).
std::unique_ptr<ImageReader> open_hdf5(const std::string& path, const StackChoice& choice = {});

} // namespace specklescope
