// What sinks share that write something for each line region of each frame: profiles are taken as results
// pass, so that no frame is held, and written by a thread of its own.
#pragma once

#include "analysis/profile.hpp"
#include "pipeline/sink.hpp"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
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

class LineSink : public Sink {
public:
    /// `shown`: in the status, where that is not the path.
    LineSink(std::string path, int band, const std::string& shown = "")
        : path_(std::move(path)), shown_(shown.empty() ? path_ : shown), band_(band) {}
    LineSink(const LineSink&) = delete;
    LineSink& operator=(const LineSink&) = delete;

    void open(const StreamInfo& stream) final;
    /// Takes the profiles on the processing thread: about 10 ns a point of each line's band.
    void push(const Result& result, bool may_wait) final;
    void close() noexcept final;
    bool wants_host_image() const final { return true; }
    SinkStatus status() const final;

protected:
    /// Checks and creates what can be created. Throws UsageError or RunError. Returns the bytes written.
    virtual std::uint64_t begin(const StreamInfo& stream) = 0;
    // On the writing thread. What is thrown, a whole sentence, stops this sink, loudly; finish() is called
    // all the same.
    /// Returns the bytes written.
    virtual std::uint64_t write(const std::vector<LineFrame>& frames) = 0;
    /// Throws RunError. `well`: all that was accepted is written.
    virtual void finish(bool well) = 0;

    const std::string& path() const { return path_; }
    int band() const { return band_; }
    std::uint64_t dropped() const;

private:
    /// Numbers waiting at once: 32 MB.
    static constexpr std::size_t kMostWaiting = std::size_t{1} << 22;
    /// From one write to the next, unless much has come.
    static constexpr std::chrono::milliseconds kPause{200};
    static constexpr std::size_t kMany = std::size_t{1} << 17;

    LineFrame measured(const Result& result);
    void run();
    void write_all(const std::vector<LineFrame>& frames, bool last);

    const std::string path_, shown_;
    const int band_;

    // The processing thread's.
    std::shared_ptr<const PlacedRegions> placed_;
    std::vector<std::pair<std::size_t, LineProfile>> profiles_; ///< of its lines, with their region

    mutable std::mutex mutex_;
    std::condition_variable work_, room_;
    std::vector<LineFrame> queue_;
    std::size_t waiting_ = 0; ///< numbers in the queue
    SinkStatus status_;
    bool running_ = false, closing_ = false;
    std::mutex close_mutex_; ///< makes two that close take turns
    std::thread thread_;
    bool failed_ = false; ///< the writing thread's, while it runs
};

} // namespace specklescope
