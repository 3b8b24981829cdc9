// The full scale of samples that have more bits than the camera gave them: 12 bits in 16 and the like.
#pragma once

#include "files/image_file.hpp"
#include "pipeline/image.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

/// Looks at the frames of one source, in their order. A full scale that is stated is taken unless samples
/// exceed it. Where none is stated, one is assumed when samples pile up at 2^n - 1 (255…32767), or at such a
/// value in the high bits of 16. Both are logged once.
class FullScaleFinder {
public:
    /// Largest value that samples of this frame can have; 0: none, of floats. `name` of the source is for the
    /// log, `stated` what its file or camera states.
    double find(const std::string& name, ConstHostView frame, const StatedFullScale& stated);
    /// True once the full scale rests on the samples instead of a statement.
    bool assumed() const { return assumed_; }
    void clear() { *this = {}; }

private:
    struct Levels;
    Levels look(ConstHostView frame);
    double take_stated(const std::string& name, PixelType type, const Levels& levels,
                       const StatedFullScale& stated);
    double assume(const std::string& name, ConstHostView frame, const Levels& levels, double of_type);
    void say_once(const std::string& text, bool warn);

    double found_ = 0; ///< assumed, or stated and moved to the high bits; 0: none yet
    bool assumed_ = false;
    bool impossible_ = false; ///< samples exceed everything that could be assumed
    std::uint64_t frames_ = 0;
    std::string said_;
};

} // namespace specklescope
