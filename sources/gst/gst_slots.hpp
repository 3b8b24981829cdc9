// Slots of the pipeline's ring as GStreamer's buffers: elements write frames where they are to be read.
#pragma once

#include "pipeline/frame.hpp"
#include "sources/gst/gst_pixels.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

namespace specklescope {

/// Why a frame did not come in a slot.
enum class CopyReason : std::uint8_t {
    none,
    not_lent,    ///< the pool was asked before the source had slots to lend
    no_slot,     ///< all were held
    too_many,    ///< as many as are lent were on their way
    tight_rows,  ///< an element wants rows without padding between them
    given_again, ///< the memory of a frame given before
    other_order, ///< its pixels must be rearranged
    foreign      ///< an element brought its own memory
};

class SlotLoan;

/// Lends slots to GStreamer's threads on behalf of the acquisition thread, which has the ring. Never more
/// than `most` at a time that are not frames yet: what elements keep to themselves cannot bring the pipeline
/// to a stand. All methods are safe from any thread.
class SlotLender : public std::enable_shared_from_this<SlotLender> {
public:
    /// From now on slots of this ring. `wait`: take() waits for one to come home, as a file should.
    void serve(std::shared_ptr<FrameRing> ring, int most, bool wait);
    bool serves(const Shape& shape) const;
    /// While on, take() waits for none: a thread that waits for a slot would hold up a seek.
    void hurry(bool on) { hurried_ = on; }
    /// No more slots; ends the waiting of take().
    void stop();

    /// A slot of this shape, or null and the reason. Gives up waiting soon after `give_up` turns true.
    std::unique_ptr<SlotLoan> take(const Shape& shape, const std::function<bool()>& give_up,
                                   CopyReason& reason);

private:
    friend class SlotLoan;
    struct Terms {
        std::shared_ptr<FrameRing> ring;
        int most = 0;
        bool wait = false;
    };
    std::optional<Terms> terms_for(const Shape& shape) const;

    mutable std::mutex mutex_;
    Terms terms_;
    std::atomic<int> lent_{0};
    std::atomic<bool> hurried_{false};
};

/// A slot as the memory of one GstBuffer; ends with that memory.
class SlotLoan {
public:
    SlotLoan(LentSlot slot, std::shared_ptr<SlotLender> lender)
        : slot_(std::move(slot)), lender_(std::move(lender)) {}
    ~SlotLoan();
    SlotLoan(const SlotLoan&) = delete;
    SlotLoan& operator=(const SlotLoan&) = delete;

    HostView host() const { return slot_.host(); }
    /// Told when the buffer arrives at the sink: no element kept it, or its memory.
    void arrived_alone() { alone_ = true; }
    /// The slot as a frame that holds the buffer, so that no element writes into what is being read. Empty if
    /// it has been one already.
    Frame frame(GstBuffer* buffer);

private:
    void came_back();

    LentSlot slot_;
    std::shared_ptr<SlotLender> lender_;
    std::atomic<bool> alone_{false}, given_{false}, back_{false};
};

/// GStreamer's own locks put the threads in order where a slot goes from one to the other; this does it where
/// the thread sanitizer can see it, and nothing in a build without.
void order_threads();

/// Answers the sink's ALLOCATION queries with a pool of the lender's slots, where the caps are those of a
/// slot. While there is none to lend, the pool gives buffers of its own.
void offer_slots(GstElement* sink, const std::shared_ptr<SlotLender>& lender);

/// The buffer as a frame of its slot; empty, with the reason, where it must be copied.
Frame frame_in_place(GstBuffer* buffer, const PixelLayout& layout, CopyReason& reason);

/// Name of the element that made the memory of what arrives at the sink: the nearest that does not only pass
/// it on.
std::string memory_maker(GstElement* sink);

/// The reason as a clause of the statistics; `maker` as memory_maker() tells it.
std::string to_string(CopyReason reason, const std::string& maker, const PixelLayout& layout);

} // namespace specklescope
