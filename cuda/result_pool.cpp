#include "cuda/result_pool.hpp"

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

struct PooledBuffer {
    std::byte* data = nullptr;
    std::vector<Event> uses; ///< work to wait for before the memory is reused
    /// The caller named no stream: the default stream is still to be added to the uses.
    bool default_stream_pending = false;
};

/// Pool of buffers of one size. Keeps at most `spare` free ones. Destroyed with the last buffer in use.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
public:
    BufferPool(int device, std::size_t size, std::size_t spare)
        : bytes(size), device_(device), spare_(spare) {
        const ScopedDevice scope(device_, true);
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
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;
    /// Does not block: the GPU finishes the callers' work first.
    ~BufferPool() {
        try {
            const ScopedDevice scope(device_, true);
            for (PooledBuffer& buffer : idle_)
                if (settle(buffer))
                    free(buffer);
            log_failure(cudaMemPoolDestroy(pool_), "cudaMemPoolDestroy"); // after the last cudaFreeAsync
            allocates_.reset();
            frees_.reset();
        } catch (const std::exception&) { // the device is lost, including its memory
        }
    }

    /// Returns nothing at the timeout if all device memory is in use.
    std::shared_ptr<ResultBuffer> take(milliseconds timeout);
    /// Any thread.
    void put(PooledBuffer buffer) noexcept {
        try {
            const ScopedDevice scope(device_, true);
            const bool settled = settle(buffer);
            const std::scoped_lock lock(mutex_);
            if (idle_.size() < spare_ || !settled)
                idle_.push_back(std::move(buffer));
            else
                free(buffer);
        } catch (const std::exception&) { // as above
        }
        came_home_.notify_all();
    }
    int device() const { return device_; }
    /// Adds the work queued on `stream`. Throws UsageError if it cannot be waited for.
    void use(PooledBuffer& buffer, cudaStream_t stream) const {
        const ScopedDevice scope(device_, true);
        check_stream(stream);
        record(buffer, stream);
    }

    const std::size_t bytes;

private:
    static void record(PooledBuffer& buffer, cudaStream_t stream) {
        auto past =
            std::find_if(buffer.uses.begin(), buffer.uses.end(), [](const Event& use) { return use.done(); });
        if (past == buffer.uses.end())
            past = buffer.uses.insert(past, Event(Event::Use::ordering));
        record_on(*past, stream);
    }
    /// False while the default stream cannot be queried because a graph is being captured; retried later.
    static bool settle(PooledBuffer& buffer) noexcept {
        if (!buffer.default_stream_pending)
            return true;
        try {
            record(buffer, cudaStreamLegacy);
            buffer.default_stream_pending = false;
        } catch (const std::exception&) {
            static_cast<void>(cudaGetLastError());
        }
        return !buffer.default_stream_pending;
    }
    /// Requires mutex_. The buffer released first is most likely idle.
    std::optional<PooledBuffer> take_idle() {
        const auto found = std::find_if(idle_.begin(), idle_.end(), [](PooledBuffer& buffer) {
            return settle(buffer) && std::all_of(buffer.uses.begin(), buffer.uses.end(),
                                                 [](const Event& use) { return use.done(); });
        });
        if (found == idle_.end())
            return std::nullopt;
        PooledBuffer buffer = std::move(*found);
        idle_.erase(found);
        return buffer;
    }
    /// The pool is ordered by a stream without other work: the memory is available immediately, for every
    /// stream.
    std::optional<PooledBuffer> make() const {
        void* memory = nullptr;
        const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, allocates_->get());
        if (status == cudaErrorMemoryAllocation) {
            static_cast<void>(cudaGetLastError());
            return std::nullopt;
        }
        check(status, "cudaMallocFromPoolAsync");
        allocates_->synchronize();
        return PooledBuffer{static_cast<std::byte*>(memory), {}, false};
    }
    /// Frees after its uses.
    void free(const PooledBuffer& buffer) const {
        for (const Event& use : buffer.uses)
            use.hold(*frees_);
        log_failure(cudaFreeAsync(buffer.data, frees_->get()), "cudaFreeAsync");
    }

    int device_;
    std::size_t spare_;
    cudaMemPool_t pool_ = nullptr;
    std::optional<Stream> allocates_, frees_;
    std::mutex mutex_;
    std::condition_variable came_home_;
    std::vector<PooledBuffer> idle_; ///< in the order of release; some may still be in use
};

/// A buffer in use by a result.
class ResultBuffer final : public ResultMemory {
public:
    ResultBuffer(std::shared_ptr<BufferPool> pool, PooledBuffer buffer)
        : buffers_(std::move(pool)), buffer_(std::move(buffer)) {}
    ResultBuffer(const ResultBuffer&) = delete;
    ResultBuffer& operator=(const ResultBuffer&) = delete;
    ~ResultBuffer() override {
        buffer_.default_stream_pending = given_ && !named_;
        buffers_->put(std::move(buffer_));
    }
    int device() const override { return buffers_->device(); }
    void give() override {
        const std::scoped_lock lock(mutex_);
        given_ = true;
    }
    void used_on(void* stream) override {
        const std::scoped_lock lock(mutex_);
        buffers_->use(buffer_, static_cast<cudaStream_t>(stream));
        named_ = true;
    }
    std::byte* data() const { return buffer_.data; }

private:
    std::mutex mutex_;
    std::shared_ptr<BufferPool> buffers_;
    PooledBuffer buffer_;
    bool given_ = false, named_ = false;
};

std::shared_ptr<ResultBuffer> BufferPool::take(milliseconds timeout) {
    constexpr milliseconds kLook(2); // poll interval: callers' streams do not notify
    const ScopedDevice scope(device_, true);
    const auto end = SteadyClock::now() + timeout;
    std::unique_lock lock(mutex_);
    while (true) {
        std::optional<PooledBuffer> buffer = take_idle();
        if (!buffer)
            buffer = make();
        if (buffer)
            return std::make_shared<ResultBuffer>(shared_from_this(), std::move(*buffer));
        if (SteadyClock::now() >= end)
            return nullptr;
        came_home_.wait_for(lock, kLook);
    }
}

BufferPool& ResultPool::pool_for(const Shape& shape) {
    if (!buffers_ || buffers_->bytes != bytes_of(shape)) {
        found_.reset();
        buffers_ = std::make_shared<BufferPool>(device_, bytes_of(shape),
                                                static_cast<std::size_t>(2 * default_slots(shape)));
    }
    return *buffers_;
}

bool ResultPool::wait(const Shape& shape, milliseconds timeout) {
    try {
        BufferPool& pool = pool_for(shape);
        if (!found_)
            found_ = pool.take(timeout);
    } catch (const RunError&) {
        return true;
    }
    const auto now = SteadyClock::now();
    if (found_)
        missing_since_.reset();
    else
        missing_since_ = missing_since_.value_or(now);
    timed_out_ = missing_since_ && now - *missing_since_ >= kPatience;
    if (timed_out_)
        missing_since_.reset();
    return found_ || timed_out_;
}

Frame ResultPool::take(const Shape& shape, std::shared_ptr<ResultMemory>& memory) {
    BufferPool& pool = pool_for(shape);
    std::shared_ptr<ResultBuffer> buffer = std::exchange(found_, nullptr);
    if (!buffer)
        buffer = pool.take(std::exchange(timed_out_, false) ? milliseconds(0) : milliseconds(kPatience));
    if (!buffer)
        throw NoSlot(kNoRoomOnDevice);
    memory = buffer;
    const DeviceView pixels{buffer->data(), shape, pitch_of(shape)};
    return borrowed_device_frame(pixels, std::move(buffer));
}

} // namespace specklescope::cuda
