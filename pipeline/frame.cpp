#include "pipeline/frame.hpp"

#include "pipeline/error.hpp"

#include <blockingconcurrentqueue.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <vector>

namespace specklescope {

namespace {
class AlignedMemory final : public SlotMemory {
public:
    void* allocate(std::size_t bytes) override {
        void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
        if (!memory)
            throw RunError("No room for " + std::to_string(bytes >> 20) +
                           " MiB of frames; use a smaller image or fewer slots.");
        return memory;
    }
    void release(void* memory) noexcept override { std::free(memory); }
    Space space() const override { return Space::host; }
    bool page_locked() const override { return false; }

private:
    static constexpr std::size_t kAlignment = 4096;
};
} // namespace

std::shared_ptr<SlotMemory> host_memory() {
    static const auto memory = std::make_shared<AlignedMemory>();
    return memory;
}

namespace detail {

struct Slot {
    std::atomic<int> holders{0};
    std::byte* data = nullptr;
    FrameInfo info;
    RingState* ring = nullptr;
    std::shared_ptr<RingState> keep; ///< set while anyone holds the slot: the memory outlives the ring object
    int index = 0;
};

struct RingState {
    Shape shape;
    std::size_t pitch = 0;
    std::shared_ptr<SlotMemory> memory;
    std::byte* block = nullptr;
    std::vector<Slot> slots;
    moodycamel::BlockingConcurrentQueue<int> free;

    RingState(const Shape& size, int count, std::shared_ptr<SlotMemory> where)
        : shape(size), memory(std::move(where)), slots(static_cast<std::size_t>(count)),
          // Room for every index from every thread that may let go of a frame, so that enqueue never
          // allocates.
          free(static_cast<std::size_t>(count) * 64) {
        const std::size_t align = memory->space() == Space::device ? 256 : 64;
        pitch = (shape.row_bytes() + align - 1) / align * align;
        const std::size_t slot_bytes = pitch * static_cast<std::size_t>(shape.height);
        block = static_cast<std::byte*>(memory->allocate(slot_bytes * static_cast<std::size_t>(count)));
        for (int i = 0; i < count; ++i) {
            Slot& slot = slots[static_cast<std::size_t>(i)];
            slot.data = block + slot_bytes * static_cast<std::size_t>(i);
            slot.ring = this;
            slot.index = i;
            free.enqueue(i);
        }
    }
    RingState(const RingState&) = delete;
    RingState& operator=(const RingState&) = delete;
    ~RingState() { memory->release(block); }
};

} // namespace detail

Frame::Frame(const Frame& other) noexcept : slot_(other.slot_) {
    if (slot_)
        slot_->holders.fetch_add(1, std::memory_order_relaxed);
}

void Frame::reset() noexcept {
    detail::Slot* slot = std::exchange(slot_, nullptr);
    if (!slot || slot->holders.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    // The index goes home before the ring may go: `keep` can be the last owner.
    const std::shared_ptr<detail::RingState> keep = std::move(slot->keep);
    keep->free.enqueue(slot->index);
}

const Shape& Frame::shape() const { return slot_->ring->shape; }
FrameInfo& Frame::info() const { return slot_->info; }
Space Frame::space() const { return slot_->ring->memory->space(); }

HostView Frame::host() const {
    assert(space() == Space::host);
    return {slot_->data, slot_->ring->shape, slot_->ring->pitch};
}

DeviceView Frame::device() const {
    assert(space() == Space::device);
    return {slot_->data, slot_->ring->shape, slot_->ring->pitch};
}

FrameRing::FrameRing(const Shape& shape, int slots, const std::shared_ptr<SlotMemory>& memory)
    : state_(std::make_shared<detail::RingState>(shape, slots, memory)) {}

FrameRing::~FrameRing() = default;

namespace {
detail::Slot* claim(const std::shared_ptr<detail::RingState>& state, int index) {
    detail::Slot& slot = state->slots[static_cast<std::size_t>(index)];
    slot.keep = state;
    slot.info = FrameInfo{};
    slot.holders.store(1, std::memory_order_relaxed);
    return &slot;
}
} // namespace

Frame FrameRing::try_acquire() {
    int index = 0;
    return state_->free.try_dequeue(index) ? Frame(claim(state_, index)) : Frame();
}

Frame FrameRing::acquire(std::chrono::milliseconds timeout) {
    int index = 0;
    return state_->free.wait_dequeue_timed(index, timeout) ? Frame(claim(state_, index)) : Frame();
}

const Shape& FrameRing::shape() const { return state_->shape; }
int FrameRing::slots() const { return static_cast<int>(state_->slots.size()); }
int FrameRing::free_slots() const { return static_cast<int>(state_->free.size_approx()); }

int default_slots(const Shape& shape, std::size_t budget) {
    const std::size_t fit = budget / std::max<std::size_t>(1, shape.bytes());
    return static_cast<int>(std::clamp<std::size_t>(fit, kMinSlots, 16));
}

} // namespace specklescope
