#include "cuda/leaving_results.hpp"

#include "cuda/callers.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace specklescope::cuda {

using std::chrono::milliseconds;

namespace {

constexpr std::chrono::seconds kPatience(10);

/// Without padding if kernels can use such rows: every library accepts that.
std::size_t pitch_of(const Shape& shape) {
    const ConstDeviceView tight{nullptr, shape, shape.row_bytes()};
    return fits_kernels(tight) ? tight.pitch : slot_pitch(shape, Space::device);
}

std::size_t bytes_of(const Shape& shape) { return pitch_of(shape) * static_cast<std::size_t>(shape.height); }

} // namespace

struct Room {
    std::byte* data = nullptr;
    std::vector<Event> uses; ///< work to wait for before the memory is reused
    /// The caller named no stream: the default stream is still to be added to the uses.
    bool unsaid = false;
};

/// Pool of buffers of one size. Keeps at most `spare` free ones. Destroyed with the last buffer in use.
class Rooms : public std::enable_shared_from_this<Rooms> {
public:
    Rooms(int device, std::size_t size, std::size_t spare) : bytes(size), device_(device), spare_(spare) {
        const DeviceScope scope(device_, true);
        allocates_.emplace();
        frees_.emplace();
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = device_;
        check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
        // Otherwise a buffer that a slow caller still uses would be waited for, although memory is available.
        int no = 0;
        const cudaError_t status =
            cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowInternalDependencies, &no);
        if (status != cudaSuccess)
            log_failure(cudaMemPoolDestroy(pool_), "cudaMemPoolDestroy");
        check(status, "cudaMemPoolSetAttribute");
    }
    Rooms(const Rooms&) = delete;
    Rooms& operator=(const Rooms&) = delete;
    /// Does not block: the GPU finishes the callers' work first.
    ~Rooms() {
        try {
            const DeviceScope scope(device_, true);
            for (Room& room : idle_)
                if (settle(room))
                    free(room);
            log_failure(cudaMemPoolDestroy(pool_), "cudaMemPoolDestroy"); // after the last cudaFreeAsync
            allocates_.reset();
            frees_.reset();
        } catch (const std::exception&) { // the device is lost, including its memory
        }
    }

    /// Returns nothing at the timeout if all device memory is in use.
    std::shared_ptr<LeavingRoom> take(milliseconds timeout);
    /// Any thread.
    void put(Room room) noexcept {
        try {
            const DeviceScope scope(device_, true);
            const bool settled = settle(room);
            const std::scoped_lock lock(mutex_);
            if (idle_.size() < spare_ || !settled)
                idle_.push_back(std::move(room));
            else
                free(room);
        } catch (const std::exception&) { // as above
        }
        came_home_.notify_all();
    }
    int device() const { return device_; }
    /// Adds the work queued on `stream`. Throws UsageError if it cannot be waited for.
    void use(Room& room, cudaStream_t stream) const {
        const DeviceScope scope(device_, true);
        check_stream(stream);
        record(room, stream);
    }

    const std::size_t bytes;

private:
    static void record(Room& room, cudaStream_t stream) {
        auto past =
            std::find_if(room.uses.begin(), room.uses.end(), [](const Event& use) { return use.done(); });
        if (past == room.uses.end())
            past = room.uses.insert(past, Event(Event::Use::ordering));
        record_on(*past, stream);
    }
    /// False while the default stream cannot be queried because a graph is being captured; retried later.
    static bool settle(Room& room) noexcept {
        if (!room.unsaid)
            return true;
        try {
            record(room, cudaStreamLegacy);
            room.unsaid = false;
        } catch (const std::exception&) {
            static_cast<void>(cudaGetLastError());
        }
        return !room.unsaid;
    }
    /// Requires mutex_. The buffer released first is most likely idle.
    std::optional<Room> take_idle() {
        const auto found = std::find_if(idle_.begin(), idle_.end(), [](Room& room) {
            return settle(room) && std::all_of(room.uses.begin(), room.uses.end(),
                                               [](const Event& use) { return use.done(); });
        });
        if (found == idle_.end())
            return std::nullopt;
        Room room = std::move(*found);
        idle_.erase(found);
        return room;
    }
    /// The pool is ordered by a stream without other work: the memory is available immediately, for every
    /// stream.
    std::optional<Room> make() const {
        void* memory = nullptr;
        const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, allocates_->get());
        if (status == cudaErrorMemoryAllocation) {
            static_cast<void>(cudaGetLastError());
            return std::nullopt;
        }
        check(status, "cudaMallocFromPoolAsync");
        allocates_->synchronize();
        return Room{static_cast<std::byte*>(memory), {}, false};
    }
    /// Frees after its uses.
    void free(const Room& room) const {
        for (const Event& use : room.uses)
            use.hold(*frees_);
        log_failure(cudaFreeAsync(room.data, frees_->get()), "cudaFreeAsync");
    }

    int device_;
    std::size_t spare_;
    cudaMemPool_t pool_ = nullptr;
    std::optional<Stream> allocates_, frees_;
    std::mutex mutex_;
    std::condition_variable came_home_;
    std::vector<Room> idle_; ///< in the order of release; some may still be in use
};

/// A buffer in use by a result.
class LeavingRoom final : public ResultMemory {
public:
    LeavingRoom(std::shared_ptr<Rooms> rooms, Room room) : rooms_(std::move(rooms)), room_(std::move(room)) {}
    LeavingRoom(const LeavingRoom&) = delete;
    LeavingRoom& operator=(const LeavingRoom&) = delete;
    ~LeavingRoom() override {
        room_.unsaid = given_ && !named_;
        rooms_->put(std::move(room_));
    }
    int device() const override { return rooms_->device(); }
    void give() override {
        const std::scoped_lock lock(mutex_);
        given_ = true;
    }
    void used_on(void* stream) override {
        const std::scoped_lock lock(mutex_);
        rooms_->use(room_, static_cast<cudaStream_t>(stream));
        named_ = true;
    }
    std::byte* data() const { return room_.data; }

private:
    std::mutex mutex_;
    std::shared_ptr<Rooms> rooms_;
    Room room_;
    bool given_ = false, named_ = false;
};

std::shared_ptr<LeavingRoom> Rooms::take(milliseconds timeout) {
    constexpr milliseconds kLook(2); // poll interval: callers' streams do not notify
    const DeviceScope scope(device_, true);
    const auto end = SteadyClock::now() + timeout;
    std::unique_lock lock(mutex_);
    while (true) {
        std::optional<Room> room = take_idle();
        if (!room)
            room = make();
        if (room)
            return std::make_shared<LeavingRoom>(shared_from_this(), std::move(*room));
        if (SteadyClock::now() >= end)
            return nullptr;
        came_home_.wait_for(lock, kLook);
    }
}

Rooms& LeavingResults::rooms_for(const Shape& shape) {
    if (!rooms_ || rooms_->bytes != bytes_of(shape)) {
        found_.reset();
        rooms_ = std::make_shared<Rooms>(device_, bytes_of(shape),
                                         static_cast<std::size_t>(2 * default_slots(shape)));
    }
    return *rooms_;
}

bool LeavingResults::wait(const Shape& shape, milliseconds timeout) {
    try {
        Rooms& rooms = rooms_for(shape);
        if (!found_)
            found_ = rooms.take(timeout);
    } catch (const RunError&) {
        return true;
    }
    const auto now = SteadyClock::now();
    if (found_)
        missing_since_.reset();
    else
        missing_since_ = missing_since_.value_or(now);
    given_up_ = missing_since_ && now - *missing_since_ >= kPatience;
    if (given_up_)
        missing_since_.reset();
    return found_ || given_up_;
}

Frame LeavingResults::take(const Shape& shape, std::shared_ptr<ResultMemory>& memory) {
    Rooms& rooms = rooms_for(shape);
    std::shared_ptr<LeavingRoom> room = std::exchange(found_, nullptr);
    if (!room)
        room = rooms.take(std::exchange(given_up_, false) ? milliseconds(0) : milliseconds(kPatience));
    if (!room)
        throw NoSlot(kNoRoomOnDevice);
    memory = room;
    const DeviceView pixels{room->data(), shape, pitch_of(shape)};
    return borrowed_device_frame(pixels, std::move(room));
}

} // namespace specklescope::cuda
