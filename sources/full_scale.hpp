// Full scale of samples whose type has more bits than the camera: 12 bits in 16 and similar.
#pragma once

#include "files/image_file.hpp"
#include "pipeline/image.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

/// Examines the frames of one source in order. A stated full scale is used unless samples exceed it.
/// Otherwise, one is assumed when samples accumulate at 2^n - 1 (255…32767), or at such a value in the high
/// bits of 16. Both are logged once.
class FullScaleFinder {
public:
    /// Largest possible sample value of this frame; 0: none, for floats. `name` of the source for the log,
    /// `stated` by the file or camera.
    double find(const std::string& name, ConstHostView frame, const StatedFullScale& stated);
    /// True if the full scale is estimated from samples.
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
    bool impossible_ = false; ///< samples exceed every value that could be assumed
    std::uint64_t frames_ = 0;
    std::string said_;
};

} // namespace specklescope
