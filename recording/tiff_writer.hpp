// Multi-page TIFF, uncompressed, one strip a page. The file is valid after every page.
//
// A file begins as a classic TIFF, since ImageJ opens no BigTIFF, and becomes a BigTIFF when it grows beyond
// 4 GB. For this each page is written with the BigTIFF directory of the page before it. These directories
// form a second chain, which readers do not see until a new header replaces the first chain.
//
// Why not libtiff: it links a new directory into the chain before it writes that directory, so a process
// killed in between leaves a chain that points after the end of the file; it wants a page in one piece, while
// rows here are padded; and a page takes it 8 system calls. Here a page is one gathering write of directory,
// description and rows (two above 1023 rows) and one 8-byte write that links it in.
#pragma once

#include "recording/disk_sync.hpp"
#include "recording/record_file.hpp"
#include "recording/scale/calibration.hpp"
#include "recording/tiff_directory.hpp"

#include <optional>
#include <vector>

namespace specklescope {

class TiffWriter final : public FileWriter {
public:
    /// Takes an empty file. `first` gives the shape that all pages have.
    TiffWriter(File file, std::string path, const RecordedFrame& first, const RecordOptions& options,
               const StreamInfo& stream);
    /// Stores the file while it grows.
    void store_pages() { sync_.emplace(file_.fd()); }
    void write(const RecordedFrame& frame) override;
    void update(const FileTotals& totals) override;
    void finish(const FileTotals& totals) override;
    std::uint64_t written() const override { return pages_; }
    std::uint64_t bytes() const override { return end_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return file_.has_name(); }

private:
    /// Positions of a page in the file.
    struct Placed {
        std::uint64_t directory = 0, text = 0, text_bytes = 0, pixels = 0;
    };
    std::string directory(TiffKind kind, const Placed& page, std::uint64_t next) const;
    void build_head(const std::string& description);
    void link_page();
    void write_axes(std::uint64_t frames);
    Wrapping wrapping(std::uint64_t frames, double interval_s) const;
    void gather(ConstHostView pixels);
    void write_at(std::uint64_t offset, const void* data, std::size_t bytes);
    [[noreturn]] void fail(int error);

    File file_;
    std::string path_;
    Shape shape_;
    bool ome_; ///< the name ends in .ome.tiff
    StackAxes axes_;
    double nominal_s_ = 0; ///< between frames; 0: unknown
    std::int64_t first_ns_ = 0, last_ns_ = 0;
    std::string file_description_;
    std::string head_; ///< directory, description and padding of the page in work
    std::vector<iovec> parts_;
    TiffKind kind_ = TiffKind::classic;
    std::uint64_t classic_bytes_;
    bool grows_ = false;            ///< the page in work is the first that needs a BigTIFF
    Placed placed_;                 ///< the page in work, then the last one
    std::uint64_t first_big_ = 0;   ///< BigTIFF directory of the first page
    std::uint64_t link_ = 0;        ///< position of the offset of the next page
    std::uint64_t end_ = 0;         ///< end of the last whole page
    std::uint64_t text_offset_ = 0; ///< of the first description; 0: no page yet
    std::uint64_t pages_ = 0;
    bool failed_ = false;
    std::optional<DiskSync> sync_; ///< declared last: it stops before the file is closed
};

/// Writes one image, completely or not at all, to options.path or a numbered name if that is taken. Returns
/// the name. Throws RunError.
std::string write_tiff_picture(const RecordedFrame& frame, const FileTotals& totals,
                               const RecordOptions& options, const StreamInfo& stream);

} // namespace specklescope
