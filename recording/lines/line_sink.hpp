// Base of sinks that write something for each line region of each frame, and the file of a kymograph.
// Profiles are taken as results pass, so that no frame is held, and written by a thread.
#pragma once

#include "analysis/profile.hpp"
#include "files/whole_file.hpp"
#include "recording/batch_sink.hpp"
#include "recording/disk_sync.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

/// One line of one frame.
struct MeasuredLine {
    std::size_t region = 0; ///< of LineFrame::placed
    double spacing = 0;     ///< px from one sample to the next
    std::vector<double> averages;
};

/// What of a result its lines are made of; the pixels have gone home.
struct LineFrame {
    FrameInfo info;
    std::shared_ptr<const Chain> chain;
    Quantity quantity;
    Exposure exposure;
    RegionMean mean = RegionMean::plain;
    std::shared_ptr<const PlacedRegions> placed; ///< null: no regions were set
    std::vector<MeasuredLine> lines;
};

class LineSink : public BatchSink<LineFrame> {
public:
    /// `shown`: in the status, where that is not the path.
    LineSink(std::string path, int band, const std::string& shown = "");

    void open(const StreamInfo& stream) final;
    /// Takes the profiles on the processing thread: about 10 ns a point of each line's band.
    void push(const Result& result, bool may_wait) final;
    bool wants_host_image() const final { return true; }

protected:
    /// Checks and creates what can be created. Throws UsageError or RunError. Returns the bytes written.
    virtual std::uint64_t begin(const StreamInfo& stream) = 0;

    const std::string& path() const { return path_; }
    int band() const { return band_; }

private:
    LineFrame measured(const Result& result);

    const std::string path_, shown_;
    const int band_;

    // The processing thread's.
    std::shared_ptr<const PlacedRegions> placed_;
    std::vector<std::pair<std::size_t, LineProfile>> profiles_; ///< of its lines, with their region
};

class KymographFile {
public:
    /// Makes `wanted`, or a numbered name, and its table beside it, for the line as `frame` has it. Throws
    /// RunError.
    KymographFile(const std::string& wanted, const LineFrame& frame, const MeasuredLine& line, int band,
                  const StreamInfo& stream);

    /// Whether a row of this line goes on where the last one ended: the same ends, the same quantity.
    bool continues(const LineFrame& frame, const MeasuredLine& line) const;
    void add(const LineFrame& frame, const MeasuredLine& line);
    std::size_t waiting() const { return pixels_text_.size(); } ///< bytes of rows not yet written
    /// Writes the rows that were added. Throws RunError. Returns the bytes.
    std::uint64_t flush(std::uint64_t dropped);
    /// The last word: `finished` says that all rows are there; of rows that could not be written nothing
    /// stays, and the file says how many were dropped. Throws RunError.
    void finish(bool finished, std::uint64_t dropped);
    const std::string& path() const { return path_; }

private:
    void tell_settings(const LineFrame& frame);
    double spacing() const;
    double period_s() const;
    std::string directory() const;
    std::string changing(bool finished, std::uint64_t dropped) const;
    void write_head(bool finished, std::uint64_t dropped);
    void store(std::uint64_t offset, const std::string& bytes) const;

    std::string path_, table_path_;
    File file_, table_;
    LineEnds line_;
    Quantity quantity_;
    std::size_t columns_ = 0;
    double spacing_ = 0;       ///< px
    double um_of_raw_ = 0;     ///< of the source's pixels; 0: unknown
    double um_per_px_ = 0;     ///< 0: unknown
    double nominal_s_ = 0;     ///< between rows; 0: unknown
    std::string fixed_;        ///< what of the description does not change
    std::uint64_t pixels_ = 0; ///< where they begin
    std::uint64_t rows_ = 0, in_file_ = 0;
    std::uint64_t table_end_ = 0; ///< behind the line of row in_file_
    std::int64_t first_ns_ = 0, last_ns_ = 0;
    std::int64_t last_in_file_ns_ = 0;
    std::uint64_t told_ = 0; ///< the version of the parameters that the table has told, once rows_ > 0
    std::string exposure_;   ///< and the exposure
    std::uint64_t changes_ = 0, changes_in_file_ = 0; ///< of either behind the first row
    std::string pixels_text_, table_text_;            ///< not yet written
    TimedSync sync_;
};

} // namespace specklescope
