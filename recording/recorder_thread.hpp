// The recorder: a bounded queue that the pipeline fills (recorder.cpp), and a thread that writes it into
// files (recorder_files.cpp).
#pragma once

#include "pipeline/clock/clock_fit.hpp"
#include "recording/derived_frame.hpp"
#include "recording/limits/disk_room.hpp"
#include "recording/pretrigger/pre_trigger.hpp"
#include "recording/record_file.hpp"
#include "recording/screen/painter.hpp"

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace specklescope {

class Recorder final : public Sink {
public:
    explicit Recorder(RecordOptions options)
        : options_(std::move(options)), format_(record_format(options_.path)), gate_(options_.limits),
          painter_(options_.marks) {}
    ~Recorder() override { close(); }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void open(const StreamInfo& stream) override;
    void push(const Result& result, bool may_wait) override;
    void mark(const EventMark& event) override;
    void hurry() noexcept override;
    void close() noexcept override;
    bool wants_host_image() const override {
        return options_.what == RecordWhat::processed || options_.what == RecordWhat::screen;
    }
    bool records() const override { return true; }
    SinkStatus status() const override;

private:
    struct Item {
        RecordedFrame frame;
        bool pinned = false;
        bool live = false; ///< may be dropped
        bool held = false; ///< in the memory of options_.before
    };
    enum class Room { pin, copy, hold, none };

    /// Room for copies of frames of one shape; used by the pushing thread alone.
    class Pool {
    public:
        /// Puts a copy in place of `pixels`; false where there is no room.
        bool copy(Frame& pixels, const std::string& path);
        void clear() { ring_.reset(); }

    private:
        std::optional<FrameRing> ring_;
        Shape shape_;
    };

    void check_holds(const StreamInfo& stream) const;
    RecordedFrame offered(const Result& result) const;
    void take_before(const FrameInfo& first);
    bool copy_to(Room room, RecordedFrame& frame);
    Room find_room(std::unique_lock<std::mutex>& lock, bool may_wait);
    bool takes(const FrameInfo& info);
    void end_where_long_enough();
    void drop_late();
    // The rest runs on the writing thread: recorder_files.cpp.
    void run();
    void write(Item item);
    double write_frame(RecordedFrame& frame);
    std::uint64_t bytes_of(const RecordedFrame& frame) const;
    bool ends_before(const RecordedFrame& frame);
    bool is_another_kind(const RecordedFrame& frame) const;
    bool wants_next_file(const RecordedFrame& frame) const;
    void next_file(const RecordedFrame& first);
    void update_file();
    void count_behind_last();
    void finish_file(std::uint64_t dropped);
    std::uint64_t kept() const;
    void account(double seconds);
    FileTotals totals(std::uint64_t dropped) const;
    void fail(const std::string& what);

    const RecordOptions options_;
    const RecordFormat& format_;
    StreamInfo stream_;

    mutable std::mutex mutex_;
    std::condition_variable work_; ///< something to write, or the end
    std::condition_variable room_; ///< a frame went home, or the end
    std::deque<Item> queue_;
    SinkStatus status_; ///< guarded by mutex_, like everything above and the twelve below
    FrameGate gate_;
    GrowingTime gate_time_; ///< that it judges by
    int pinned_ = 0;        ///< frames of the pipeline's rings in the queue or being written
    int writing_ = 0;       ///< 1 while a frame is being written
    double cost_ = 0;       ///< seconds a frame takes to write
    std::uint64_t offered_ = 0;
    std::uint64_t newest_ = 0, newest_left_out_ = 0; ///< sequence of the last one offered, and what it found
    std::vector<EventMark> events_;                  ///< for the next frame that is accepted
    std::size_t held_ = 0;                           ///< items that are
    bool began_ = false;                             ///< what came before has been asked for
    bool running_ = false;
    bool closing_ = false;

    std::mutex close_mutex_; ///< makes two that close take turns
    std::thread thread_;
    Pool pool_, raw_pool_;

    // Used by the writing thread alone.
    std::unique_ptr<FileWriter> writer_;
    DiskRoom disk_;
    std::uint64_t bytes_before_ = 0;              ///< in finished files
    GrowingTime time_;                            ///< of the frames
    std::int64_t now_ns_ = 0, file_began_ns_ = 0; ///< there, of the frame in work and of its file's first
    ClockWatch clock_;                            ///< over the frames of the present file
    SaturationMask mask_;
    ChangePicture change_;
    ScreenPainter painter_;
    Shape shape_;
    Quantity quantity_;
    std::array<double, 5> costs_{};    ///< of the last frames; their median ignores one long pause of a disk
    std::uint64_t written_before_ = 0; ///< in finished files
    SinkFile finished_;                ///< the last of them
    int next_number_ = 0; ///< of the names that are tried for the next file: those before it are taken
    std::uint64_t dropped_before_ = 0;              ///< counted in finished files
    std::uint64_t lost_before_ = 0, in_warmup_ = 0; ///< of the present file
    std::uint64_t lost_in_all_ = 0;                 ///< lost_before_ of all files
    std::uint64_t last_sequence_ = 0, last_dropped_ = 0, last_left_out_ = 0, logged_drops_ = 0;
    bool last_failed_ = false; ///< the frame that these are of is not in the file
    bool any_frame_ = false;
    SteadyClock::time_point next_update_{};
};

} // namespace specklescope
