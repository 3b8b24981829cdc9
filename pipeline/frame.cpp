#include "pipeline/frame.hpp"

#include "base/error.hpp"
#include "base/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace specklescope {

const char* to_string(Light light) {
    static constexpr std::array kNames = {"counts", "decoded", "radiance"};
    return kNames.at(static_cast<std::size_t>(light));
}

namespace {
constexpr std::array kAssumptions = {
    std::pair{&Assumptions::full_scale, "full scale"},
    std::pair{&Assumptions::range, "video range"},
    std::pair{&Assumptions::matrix, "video matrix"},
    std::pair{&Assumptions::coding, "image coding"},
};
} // namespace

std::string to_string(const Assumptions& assumed) {
    std::string text;
    for (const auto& [flag, name] : kAssumptions)
        if (assumed.*flag)
            text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

Assumptions parse_assumptions(std::string_view text) {
    Assumptions assumed;
    for (const auto& [flag, name] : kAssumptions)
        assumed.*flag = text.find(name) != std::string_view::npos;
    return assumed;
}

const char* to_string(TimeOrigin origin) {
    static constexpr std::array kNames = {"source", "parameter", "none"};
    return kNames.at(static_cast<std::size_t>(origin));
}

const char* to_string(ExposureOrigin origin) {
    static constexpr std::array kNames = {"unknown", "camera", "file", "parameter", "default"};
    return kNames.at(static_cast<std::size_t>(origin));
}

namespace {
class AlignedMemory final : public SlotMemory {
public:
    void* allocate(std::size_t bytes) override {
        check_memory(bytes, "The ring of frames", "use a smaller image or fewer slots");
        void* memory = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
        if (!memory)
            throw RunError("No room for " + std::to_string(bytes >> 20) +
                           " MiB of frames; use a smaller image or fewer slots.");
        return memory;
    }
    void release(void* memory) noexcept override { std::free(memory); }
    Space space() const override { return Space::host; }

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
    std::shared_ptr<RingState> keep; ///< set while the slot is held: the memory outlives the ring object
    std::shared_ptr<void> owner;     ///< of the LentSlot of this frame; null: none
    int index = 0;
};

/// Free slots. The slot released last is reused first, since its memory is still cached. Slots of small
/// frames take turns, so that consecutive frames are neighbours (Frame::follows). A thread that waits for one
/// of these sleeps until several are free, at most 1 ms: waking it for each takes longer than processing such
/// a frame.
class FreeSlots {
public:
    FreeSlots(int count, bool in_turn) : indices_(static_cast<std::size_t>(count)), in_turn_(in_turn) {}
    void put(int index) noexcept {
        bool enough = false;
        {
            const std::scoped_lock lock(mutex_);
            indices_[(first_ + count_++) % indices_.size()] = index;
            enough = count_ >= wanted_;
        }
        if (enough)
            released_.notify_all();
    }
    std::optional<int> take(std::chrono::milliseconds timeout) {
        std::unique_lock lock(mutex_);
        const auto wait = [&](std::chrono::milliseconds time, std::size_t wanted) {
            wanted_ = wanted;
            released_.wait_for(lock, time, [&] { return count_ >= wanted; });
            if (std::exchange(wanted_, 1) > 1)
                released_.notify_all(); // another thread may want one
        };
        const std::chrono::milliseconds a_moment(in_turn_ && timeout.count() > 0 ? 1 : 0);
        if (count_ == 0 && a_moment.count() > 0)
            wait(a_moment, std::max<std::size_t>(indices_.size() / 4, 1));
        if (count_ == 0 && timeout > a_moment)
            wait(timeout - a_moment, 1);
        return count_ > 0 ? std::optional(next()) : std::nullopt;
    }
    /// At most `most`, all but `left`.
    std::vector<int> take(std::size_t most, std::size_t left) {
        const std::scoped_lock lock(mutex_);
        std::vector<int> taken(std::min(most, count_ - std::min(count_, left)));
        std::generate(taken.begin(), taken.end(), [this] { return next(); });
        return taken;
    }
    int count() const {
        const std::scoped_lock lock(mutex_);
        return static_cast<int>(count_);
    }

private:
    int next() {
        --count_;
        return in_turn_ ? indices_[std::exchange(first_, (first_ + 1) % indices_.size())]
                        : indices_[(first_ + count_) % indices_.size()];
    }

    mutable std::mutex mutex_;
    std::condition_variable released_;
    std::vector<int> indices_; ///< `count_` of them from `first_` on, then from the beginning
    std::size_t first_ = 0, count_ = 0;
    std::size_t wanted_ = 1; ///< by the thread that waits
    bool in_turn_;
};

/// Frames up to this size are small: default_slots(), FreeSlots.
constexpr std::size_t kSmallBytes = 4 * kWholePixels;

struct RingState {
    Shape shape;
    std::size_t pitch = 0;
    std::shared_ptr<SlotMemory> memory;
    std::byte* block = nullptr;
    std::vector<Slot> slots;
    FreeSlots free;

    RingState(const Shape& size, int count, std::shared_ptr<SlotMemory> where)
        : shape(size), memory(std::move(where)), slots(static_cast<std::size_t>(count)),
          free(count, shape.bytes() <= kSmallBytes) {
        pitch = slot_pitch(shape, memory->space());
        const std::size_t slot_bytes = pitch * static_cast<std::size_t>(shape.height);
        block = static_cast<std::byte*>(memory->allocate(slot_bytes * static_cast<std::size_t>(count)));
        for (int i = 0; i < count; ++i) {
            Slot& slot = slots[static_cast<std::size_t>(i)];
            slot.data = block + slot_bytes * static_cast<std::size_t>(i);
            slot.ring = this;
            slot.index = i;
            free.put(i);
        }
    }
    /// One slot, in use from the start, on pixels of a caller.
    template <Space S> RingState(const ImageView<S>& pixels, std::shared_ptr<SlotMemory> where)
        : shape(pixels.shape), pitch(pixels.pitch), memory(std::move(where)), block(pixels.data), slots(1),
          free(1, false) {
        slots[0].data = block;
        slots[0].ring = this;
    }
    RingState(const RingState&) = delete;
    RingState& operator=(const RingState&) = delete;
    ~RingState() { memory->release(block); }
};

} // namespace detail

namespace {
void release_slot(detail::Slot& slot) {
    // Release the index before the ring: `keep` can be the last owner.
    const std::shared_ptr<detail::RingState> keep = std::move(slot.keep);
    keep->free.put(slot.index);
}
} // namespace

Frame::Frame(const Frame& other) noexcept : slot_(other.slot_) {
    if (slot_)
        slot_->holders.fetch_add(1, std::memory_order_relaxed);
}

void Frame::reset() noexcept {
    detail::Slot* slot = std::exchange(slot_, nullptr);
    if (!slot || slot->holders.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    if (slot->owner) {
        // The slot is released with its LentSlot, possibly here.
        const std::shared_ptr<void> owner = std::move(slot->owner);
        return;
    }
    release_slot(*slot);
}

const Shape& Frame::shape() const { return slot_->ring->shape; }
FrameInfo& Frame::info() const { return slot_->info; }
Space Frame::space() const { return slot_->ring->memory->space(); }
bool Frame::follows(const Frame& before) const {
    return slot_->ring == before.slot_->ring && slot_->index == before.slot_->index + 1;
}
bool Frame::lent() const { return slot_->owner != nullptr; }

HostView Frame::host() const {
    assert(space() == Space::host);
    return {slot_->data, slot_->ring->shape, slot_->ring->pitch};
}

DeviceView Frame::device() const {
    assert(space() == Space::device);
    return {slot_->data, slot_->ring->shape, slot_->ring->pitch};
}

LentSlot::~LentSlot() {
    if (slot_)
        release_slot(*slot_);
}

HostView LentSlot::host() const {
    assert(slot_->ring->memory->space() == Space::host);
    return {slot_->data, slot_->ring->shape, slot_->ring->pitch};
}

Frame LentSlot::frame(std::shared_ptr<void> owner) const {
    slot_->owner = std::move(owner);
    slot_->info = FrameInfo{};
    slot_->holders.store(1, std::memory_order_relaxed);
    return Frame(slot_);
}

std::size_t slot_pitch(const Shape& shape, Space space) {
    const std::size_t align = space == Space::device ? 256 : 64;
    return (shape.row_bytes() + align - 1) / align * align;
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

namespace {
/// Memory of borrowed frames: only releases the owner.
class BorrowedMemory final : public SlotMemory {
public:
    BorrowedMemory(Space space, std::shared_ptr<void> owner) : space_(space), owner_(std::move(owner)) {}
    void* allocate(std::size_t) override { return nullptr; }
    void release(void*) noexcept override { owner_.reset(); }
    Space space() const override { return space_; }

private:
    Space space_;
    std::shared_ptr<void> owner_;
};
} // namespace

Frame borrowed_frame(const HostView& pixels, std::shared_ptr<void> owner) {
    return Frame(claim(std::make_shared<detail::RingState>(
                           pixels, std::make_shared<BorrowedMemory>(Space::host, std::move(owner))),
                       0));
}

Frame borrowed_device_frame(const DeviceView& pixels, std::shared_ptr<void> owner) {
    return Frame(claim(std::make_shared<detail::RingState>(
                           pixels, std::make_shared<BorrowedMemory>(Space::device, std::move(owner))),
                       0));
}

Frame FrameRing::try_acquire() { return acquire(std::chrono::milliseconds(0)); }

Frame FrameRing::acquire(std::chrono::milliseconds timeout) {
    const std::optional<int> index = state_->free.take(timeout);
    return index ? Frame(claim(state_, *index)) : Frame();
}

std::vector<Frame> FrameRing::try_acquire(int most, int left) {
    const std::vector<int> indices =
        state_->free.take(static_cast<std::size_t>(most), static_cast<std::size_t>(left));
    std::vector<Frame> frames;
    frames.reserve(indices.size());
    for (const int index : indices)
        frames.push_back(Frame(claim(state_, index)));
    return frames;
}

LentSlot FrameRing::lend(std::chrono::milliseconds timeout) {
    const std::optional<int> index = state_->free.take(timeout);
    if (!index)
        return {};
    detail::Slot& slot = state_->slots[static_cast<std::size_t>(*index)];
    slot.keep = state_;
    return LentSlot(&slot);
}

const Shape& FrameRing::shape() const { return state_->shape; }
int FrameRing::slots() const { return static_cast<int>(state_->slots.size()); }
int FrameRing::free_slots() const { return state_->free.count(); }

int default_slots(const Shape& shape, std::size_t budget) {
    const std::size_t fit = budget / std::max<std::size_t>(1, shape.bytes());
    return static_cast<int>(
        std::clamp<std::size_t>(fit, kMinSlots, shape.bytes() <= detail::kSmallBytes ? 64 : 16));
}

namespace {
constexpr std::array<std::string_view, 6> kMeasures = {"intensity", "contrast", "contrast2",
                                                       "time",      "flow",     "other"};
}

std::string_view to_string(Measure measure) { return kMeasures[static_cast<std::size_t>(measure)]; }

Measure measure_named(std::string_view name) {
    const auto at = std::find(kMeasures.begin(), kMeasures.end(), name);
    return at == kMeasures.end() ? Measure::other : static_cast<Measure>(at - kMeasures.begin());
}

} // namespace specklescope
