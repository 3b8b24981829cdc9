#include "gst/values.hpp"

#include "gst/pool.hpp"

#include <utility>

namespace specklescope::element {

Values::Values(specklescope_chain* chain, Owned<GstCaps> caps, std::size_t bytes)
    : caps_(std::move(caps)), bytes_(bytes) {
    if (bytes <= G_MAXUINT)
        pool_ = make_pool(chain, caps_.get(), static_cast<guint>(bytes), 0);
    if (pool_ && !gst_buffer_pool_set_active(pool_.get(), TRUE))
        pool_.reset();
}

Values::~Values() {
    if (pool_) // buffers that are out end when they come home
        gst_buffer_pool_set_active(pool_.get(), FALSE);
}

Owned<GstBuffer> Values::buffer() const {
    GstBuffer* made = nullptr;
    if (!pool_)
        made = gst_buffer_new_allocate(nullptr, bytes_, nullptr);
    else if (gst_buffer_pool_acquire_buffer(pool_.get(), &made, nullptr) != GST_FLOW_OK)
        made = nullptr;
    if (!made)
        throw Refusal(
            SPECKLESCOPE_RUN_ERROR,
            "There is no memory for the " + std::to_string(bytes_) +
                " bytes of exact numbers beside a picture; hold fewer of them, or set values=false.");
    return Owned<GstBuffer>(made);
}

Owned<GstSample> Values::sample(const Owned<GstBuffer>& buffer, GstBuffer* picture) const {
    gst_buffer_copy_into(buffer.get(), picture, GST_BUFFER_COPY_TIMESTAMPS, 0, static_cast<gsize>(-1));
    return Owned<GstSample>(gst_sample_new(buffer.get(), caps_.get(), nullptr, nullptr));
}

} // namespace specklescope::element
