// Slots of the pipeline's ring as GStreamer buffers: elements write frames directly into slots.
#pragma once

#include "files/gst_handles.hpp"
#include "pipeline/frame.hpp"
#include "pipeline/image.hpp"

#include <gst/video/video.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace specklescope {

/// Memory layout of frames with one set of caps, and their conversion.
struct PixelLayout {
    GstVideoInfo info{};
    Shape shape;
    bool swap = false; ///< 16-bit words have the other byte order than this machine

    /// True if the bytes have the order of a slot: only the row pitch may differ.
    bool as_in_slot() const;
};

/// Formats that slots can hold without loss, best first: for the appsink's caps.
GstHandle<GstCaps> accepted_caps();
/// Format for YUV of this depth, which copy_buffer() converts to RGB. videoconvert only repeats its chroma:
/// its own conversion to RGB calculates with few bits, and grey of the range 16…235 becomes up to 3 values
/// too dark.
GstHandle<GstCaps> yuv_caps(guint bits);
/// Format for RGB with more than 8 bits: 16 bits per channel.
GstHandle<GstCaps> deep_caps();
/// Throws RunError naming the format if it is not supported.
PixelLayout layout_of(const GstCaps* caps, const std::string& name);
/// Copies once, using the buffer's own strides (GstVideoMeta). `to` must have the layout's shape. Throws
/// RunError if the buffer is smaller than its caps require.
void copy_buffer(GstBuffer* buffer, const PixelLayout& layout, HostView to, const std::string& name);

/// Why a frame did not arrive in a slot.
enum class CopyReason : std::uint8_t {
    none,
    not_lent,    ///< the pool was asked before slots were available
    no_slot,     ///< all were held
    too_many,    ///< the limit of lent slots was reached
    tight_rows,  ///< an element requires rows without padding
    given_again, ///< memory of an earlier frame
    other_order, ///< its pixels must be rearranged or converted
    foreign      ///< memory of an element
};

class SlotLoan;

/// Lends slots to GStreamer's threads for the acquisition thread, which owns the ring. At most `most` at a
/// time that are not frames yet, so that elements that keep buffers cannot stall the pipeline. All methods
/// are thread-safe.
class SlotLender : public std::enable_shared_from_this<SlotLender> {
public:
    /// Uses slots of this ring from now on. `wait`: take() waits for a released slot, for files.
    void serve(std::shared_ptr<FrameRing> ring, int most, bool wait);
    bool serves(const Shape& shape) const;
    /// While on, take() does not wait: a waiting thread would delay a seek.
    void set_nonblocking(bool on) { nonblocking_ = on; }
    /// Stops lending; ends waits in take().
    void stop();

    /// A slot of this shape, or null and the reason. Stops waiting soon after `cancelled` returns true.
    std::unique_ptr<SlotLoan> take(const Shape& shape, const std::function<bool()>& cancelled,
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
    std::atomic<bool> nonblocking_{false};
};

/// A slot as the memory of one GstBuffer, destroyed with that memory.
class SlotLoan {
public:
    SlotLoan(LentSlot slot, std::shared_ptr<SlotLender> lender)
        : slot_(std::move(slot)), lender_(std::move(lender)) {}
    ~SlotLoan();
    SlotLoan(const SlotLoan&) = delete;
    SlotLoan& operator=(const SlotLoan&) = delete;

    HostView host() const { return slot_.host(); }
    /// Called when the buffer arrives at the sink and no element kept it or its memory.
    void arrived_alone() { alone_ = true; }
    /// The slot as a frame that holds the buffer, so that no element overwrites it. Empty after the first
    /// call.
    Frame frame(GstBuffer* buffer);

private:
    void came_back();

    LentSlot slot_;
    std::shared_ptr<SlotLender> lender_;
    std::atomic<bool> alone_{false}, given_{false}, back_{false};
};

/// Shows ThreadSanitizer the ordering by GStreamer's locks when a slot moves between threads; does nothing in
/// other builds.
void order_threads();

/// Answers the sink's ALLOCATION queries with a pool of the lender's slots, if a slot can hold the caps.
/// Without available slots, the pool returns its own buffers.
void offer_slots(GstElement* sink, const std::shared_ptr<SlotLender>& lender);

/// The buffer as a frame of its slot; empty, with the reason, if it must be copied.
Frame frame_in_place(GstBuffer* buffer, const PixelLayout& layout, CopyReason& reason);

/// Name of the element that allocated the memory arriving at the sink: the nearest one that does not only
/// pass it on.
std::string memory_maker(GstElement* sink);

/// The reason as a clause for the statistics; `maker` from memory_maker().
std::string to_string(CopyReason reason, const std::string& maker, const PixelLayout& layout);

} // namespace specklescope
