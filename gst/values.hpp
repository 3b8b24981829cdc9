// The exact numbers beside pictures: each in a buffer of its own, in memory that the chain writes.
#pragma once

#include "gst/library.hpp"
#include "gst/owners.hpp"

#include <cstddef>

namespace specklescope::element {

/// Of one shape. What it has given out lives as long as somebody holds it, also when this and the chain have
/// ended.
class Values {
public:
    /// `chain`: a key; `caps`: of the numbers, of `bytes` a frame.
    Values(specklescope_chain* chain, Owned<GstCaps> caps, std::size_t bytes);
    ~Values();
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    /// Room for one result. Nobody waits for one. Throws Refusal where there is no memory.
    Owned<GstBuffer> buffer() const;
    /// The numbers in `buffer` with their caps, at the time of `picture`.
    Owned<GstSample> sample(const Owned<GstBuffer>& buffer, GstBuffer* picture) const;

private:
    Owned<GstCaps> caps_;
    std::size_t bytes_;
    Owned<GstBufferPool> pool_; ///< null: frames are too large for one, each is made and ended
};

} // namespace specklescope::element
