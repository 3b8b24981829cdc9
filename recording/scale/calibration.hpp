// How other programs are told what the axes of a TIFF stack are: ImageJ's words and resolution, or OME-XML
// (2016-06, https://www.openmicroscopy.org/Schemas/OME/2016-06) where the name ends in .ome.tiff.
#pragma once

#include "pipeline/stage.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

/// A positive number as TIFF's ratio of two 32-bit ones, numerator in the lower half: the nearest by its
/// continued fraction, exact for ratios of small numbers; 1/1 for anything else.
std::uint64_t tiff_ratio(double value);

/// "flow.ome.tiff", in any case.
bool is_ome_name(const std::string& path);

struct StackAxes {
    Shape shape;
    Quantity quantity;
    double um_per_px = 0;     ///< 0: unknown
    std::uint64_t frames = 0; ///< 0: not known yet
    double interval_s = 0;    ///< between frames; 0: unknown
    bool timed = true;        ///< the frames have times, or a rate: an interval is written
};
/// What stands around the JSON of a description. Of the same shape, quantity, scale and timed both are always
/// of the same length, so that they can be replaced in place.
struct Wrapping {
    std::string before, behind;
};
/// In words that ImageJ writes and tifffile and Bio-Formats read.
Wrapping imagej_text(const StackAxes& axes);
/// PhysicalSizeX/Y in µm, TimeIncrement, one channel named by its quantity; the JSON is a comment.
Wrapping ome_text(const StackAxes& axes);
/// The JSON as it may stand within the comment: the same object.
std::string ome_safe(std::string json);

} // namespace specklescope
