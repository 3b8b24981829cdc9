// What sinks share that write something for each line region of each frame: profiles are taken as results
// pass, so that no frame is held, and written by a thread of its own.
#pragma once

#include "analysis/profile.hpp"
#include "recording/batch_sink.hpp"

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

} // namespace specklescope
