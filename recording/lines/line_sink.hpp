// Base of sinks that write values for each line region of each frame, and the file of a kymograph. The
// processing thread takes the profiles, so that no frame is kept; another thread writes them.
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
    std::size_t region = 0; ///< index in LineFrame::placed
    double spacing = 0;     ///< px between samples
    std::vector<double> averages;
};

/// The lines of a result, without its pixels.
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
    /// `shown`: the path in the status, if it differs.
    LineSink(std::string path, int band, const std::string& shown = "");

    void open(const StreamInfo& stream) final;
    /// Takes the profiles: about 10 ns for each point of the band of each line.
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

    // Used by the processing thread.
    std::shared_ptr<const PlacedRegions> placed_;
    std::vector<std::pair<std::size_t, LineProfile>> profiles_; ///< lines with the index of their region
};

class KymographFile {
public:
    /// Creates `wanted`, or a numbered name, and its table, for the line in `frame`. Throws RunError.
    KymographFile(const std::string& wanted, const LineFrame& frame, const MeasuredLine& line, int band,
                  const StreamInfo& stream);

    /// True if a row of this line fits the previous rows: the same ends, the same quantity.
    bool continues(const LineFrame& frame, const MeasuredLine& line) const;
    void add(const LineFrame& frame, const MeasuredLine& line);
    std::size_t waiting() const { return pixels_text_.size(); } ///< bytes of rows not yet written
    /// Writes the rows that were added. Throws RunError. Returns the bytes.
    std::uint64_t flush(std::uint64_t dropped);
    /// Closes the file. `finished`: all rows were written; otherwise incomplete rows are removed. The file
    /// contains the number of dropped rows. Throws RunError.
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
    std::string fixed_;        ///< constant part of the description
    std::uint64_t pixels_ = 0; ///< position of the first one
    struct Rows {
        std::uint64_t count = 0;
        std::int64_t last_ns = 0;
        std::uint64_t changes = 0; ///< of parameters or exposure after the first row
    };
    Rows rows_, in_file_;         ///< added, and written
    std::uint64_t table_end_ = 0; ///< end of the line of the last row in the file
    std::int64_t first_ns_ = 0;
    std::uint64_t told_ = 0; ///< version of the parameters written to the table, with the first row
    std::string exposure_;   ///< exposure written to the table
    std::string pixels_text_, table_text_; ///< not yet written
    TimedSync sync_;
};

} // namespace specklescope
