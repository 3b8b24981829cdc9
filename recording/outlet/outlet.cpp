#include "recording/outlet/outlet.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "recording/record_file.hpp"
#include "recording/screen/painter.hpp"

#include <spdlog/spdlog.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace specklescope {

namespace {
using namespace std::chrono_literals;
constexpr auto kFastest = 16ms;  ///< between two pictures: an eye has no use for more
constexpr auto kAgainAfter = 1s; ///< without a new one
} // namespace

class Outlet::Impl {
public:
    Impl(std::unique_ptr<OutletEnd> end, std::shared_ptr<const LiveLook> look, const ScreenMarks& marks)
        : end_(std::move(end)), look_(std::move(look)), painter_(marks) {
        end_->tell([this] {
            const std::lock_guard lock(mutex_);
            wake_.notify_all();
        });
        thread_ = std::thread([this] { run(); });
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        {
            const std::lock_guard lock(mutex_);
            closing_ = true;
        }
        wake_.notify_all();
        thread_.join();
        end_.reset(); // and with it whoever calls what it was told
    }

    std::string name() const { return end_->name(); }
    std::vector<OutletClient> clients() const { return end_->clients(); }
    SinkStatus status() const {
        const std::lock_guard lock(mutex_);
        return status_;
    }
    void begin(const StreamInfo& stream) {
        const std::lock_guard lock(mutex_);
        stream_ = stream;
        live_ = stream.source.live;
        held_since_ = {};
    }
    /// Whoever comes when all is over sees the last picture. A film may stand still at any of its frames; a
    /// camera ends by surprise alone, and of what nobody watches a picture a second is near enough.
    bool wants_pixels() const {
        if (end_->watched())
            return true;
        const std::lock_guard lock(mutex_);
        return !live_ || SteadyClock::now() - held_since_ >= kAgainAfter;
    }
    /// The slots of that pipeline go home with it.
    void end() {
        std::unique_lock lock(mutex_);
        status_.left_out += newest_ ? 1 : 0; // nobody has seen it
        newest_.reset();
        idle_.wait(lock, [this] { return !painting_; });
    }
    void mark(const EventMark& event) {
        constexpr std::size_t kMost = 64;
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
        if (events_.size() > kMost)
            events_.erase(events_.begin());
    }
    void take(const Result& result) {
        RecordedFrame frame = recorded_frame(result, RecordWhat::screen);
        frame.look = look_->get();
        if (frame.look->layout != ScreenLayout::processed)
            frame.raw = result.raw;
        std::optional<RecordedFrame> overtaken; // its slots go home outside the lock
        const std::lock_guard lock(mutex_);
        if (closing_ || !status_.error.empty())
            return;
        if (!frame.pixels) { // it stayed on the device: nobody watched
            ++status_.left_out;
            return;
        }
        held_since_ = SteadyClock::now();
        status_.left_out += newest_ ? 1 : 0;
        overtaken = std::exchange(newest_, std::move(frame));
        wake_.notify_all();
    }

private:
    void run() {
        auto shown = SteadyClock::now() - kAgainAfter;
        std::unique_lock lock(mutex_);
        while (!closing_) {
            wake_.wait_until(lock, shown + kAgainAfter, [this] { return closing_ || wanted(); });
            if (closing_)
                return;
            if (SteadyClock::now() < shown + kFastest) { // newer ones may come meanwhile
                wake_.wait_until(lock, shown + kFastest, [this] { return closing_; });
                continue;
            }
            shown = SteadyClock::now();
            show(lock);
        }
    }
    bool wanted() const { return newest_ && status_.error.empty() && end_->watched(); }

    void show(std::unique_lock<std::mutex>& lock) {
        if (!status_.error.empty() || !end_->watched())
            return;
        std::optional<RecordedFrame> frame = std::exchange(newest_, std::nullopt);
        if (frame)
            frame->events = std::exchange(events_, {});
        const std::optional<StreamInfo> stream = std::exchange(stream_, std::nullopt);
        painting_ = true;
        lock.unlock();
        bool taken = false;
        std::string error;
        try {
            if (stream)
                painter_.begin(*stream);
            if (frame)
                taken = end_->show(painter_.of(*frame));
            else
                end_->show_again();
        } catch (const std::exception& thrown) {
            error = sentence_of(thrown);
            run_log().error("{}", error);
        }
        const bool any = frame.has_value();
        frame.reset();
        lock.lock();
        painting_ = false;
        idle_.notify_all();
        status_.error = error;
        status_.written += taken ? 1 : 0;
        status_.dropped += any && !taken ? 1 : 0;
    }

    std::unique_ptr<OutletEnd> end_;
    const std::shared_ptr<const LiveLook> look_;

    mutable std::mutex mutex_;
    std::condition_variable wake_, idle_;
    std::optional<RecordedFrame> newest_;
    std::optional<StreamInfo> stream_; ///< that the painter is to be told of
    std::vector<EventMark> events_;
    SinkStatus status_;
    bool live_ = false;
    SteadyClock::time_point held_since_{}; ///< the newest one
    bool painting_ = false;
    bool closing_ = false;

    ScreenPainter painter_; ///< the thread's
    std::thread thread_;
};

Outlet::Outlet(std::unique_ptr<OutletEnd> end, std::shared_ptr<const LiveLook> look, const ScreenMarks& marks,
               std::string opened_by)
    : option(std::move(opened_by)), impl_(std::make_unique<Impl>(std::move(end), std::move(look), marks)) {}
Outlet::~Outlet() = default;
std::string Outlet::name() const { return impl_->name(); }
SinkStatus Outlet::status() const { return impl_->status(); }
std::vector<OutletClient> Outlet::clients() const { return impl_->clients(); }

/// What one pipeline brings.
class OutletFeed final : public Sink {
public:
    explicit OutletFeed(std::shared_ptr<Outlet> to) : to_(std::move(to)) {}
    void open(const StreamInfo& stream) override { to_->impl_->begin(stream); }
    void push(const Result& result, bool) override { to_->impl_->take(result); }
    void mark(const EventMark& event) override { to_->impl_->mark(event); }
    void close() noexcept override {
        if (!closed_.exchange(true))
            to_->impl_->end();
    }
    bool wants_host_image() const override { return to_->impl_->wants_pixels(); }
    SinkStatus status() const override {
        SinkStatus status;
        status.closed = closed_;
        return status;
    }

private:
    const std::shared_ptr<Outlet> to_;
    std::atomic<bool> closed_{false};
};

std::shared_ptr<Sink> Outlet::feed(std::shared_ptr<Outlet> outlet) {
    return std::make_shared<OutletFeed>(std::move(outlet));
}

void check_outlets(const std::string& serve, const std::string& output, const std::string& owner) {
    const SourceArgument address(serve);
    if (address.holds_secret())
        throw UsageError(
            owner + ": serve = '" + address.shown() +
            "' holds a password, which others see in the list of processes; put it into a variable of "
            "the environment and name that: rtsp://USER:${env:NAME}@….");
    try {
        if (!serve.empty() && address.references().empty())
            (void)parse_serve_address(address);
        if (!output.empty())
            (void)camera_device(output);
    } catch (const UsageError& error) {
        throw UsageError(owner + ": " + error.what());
    }
}

} // namespace specklescope
