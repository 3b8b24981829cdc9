// Regions as executors use them: row spans on an image of one size, and the statistics over them. Outlines,
// files and names are in analysis/.
#pragma once

#include "pipeline/image.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Pixels [x, x + length) of row y.
struct RowSpan {
    std::int32_t x = 0, y = 0, length = 0;
    bool operator==(const RowSpan&) const = default;
};

/// A straight line on an image, px; the centre of the first pixel is (0, 0).
struct LineEnds {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    bool operator==(const LineEnds&) const = default;
};

/// Position of a region relative to the image.
enum class RegionFit : std::uint8_t {
    whole,
    clipped, ///< partly outside: only pixels inside count
    outside  ///< fully outside, or the outline contains no pixel centre: an empty region
};
/// "whole", "clipped", "outside".
const char* to_string(RegionFit fit);

/// Handling of regions without a pixel on the image when they are set. After a later change of the image size
/// they are always marked.
enum class OutsideRegions : std::uint8_t { refuse, mark };

/// Limit on the spans of all regions together (192 MiB).
inline constexpr std::size_t kMaxSpans = std::size_t{1} << 24;

/// Regions whose outlines are defined elsewhere (analysis/region.hpp). Immutable: an edit makes a new object.
class RegionOutlines {
public:
    virtual ~RegionOutlines() = default;
    virtual std::size_t count() const = 0;
    virtual const std::string& name(std::size_t index) const = 0;
    /// Name for display: "rectangle".
    virtual std::string shape(std::size_t index) const = 0;
    /// Ends of a line region, for profiles.
    virtual std::optional<LineEnds> line(std::size_t) const { return std::nullopt; }
    virtual bool medians() const = 0; ///< medians are requested: a second pass over the pixels
    virtual OutsideRegions outside() const = 0;
    /// Appends the pixels of a region on an image of width × height: spans from top to bottom, left to right,
    /// each pixel once. Throws UsageError if `spans` would exceed kMaxSpans.
    virtual RegionFit spans(std::size_t index, int width, int height, std::vector<RowSpan>& spans) const = 0;
};

struct PlacedRegion {
    std::string name, shape;
    std::optional<LineEnds> line; ///< for a line
    RegionFit fit = RegionFit::whole;
    std::uint64_t pixels = 0;          ///< area on this image
    std::uint32_t span = 0, spans = 0; ///< its range in PlacedRegions::spans
    std::uint32_t chunk = 0, chunks = 0;
};

/// Part of a region, small enough for a core's first-level cache and for one GPU block.
struct RegionChunk {
    std::uint32_t region = 0, span = 0, spans = 0;
};

/// Regions on an image of one size.
struct PlacedRegions {
    static constexpr int kSpanPixels = 512;   ///< longest span; longer rows are split
    static constexpr int kChunkPixels = 4096; ///< maximum of a chunk, an estimate
    static constexpr int kChunkSpans = 256;   ///< maximum of a chunk, an estimate

    std::shared_ptr<const RegionOutlines> outlines;
    int width = 0, height = 0;
    std::uint64_t version = 0; ///< edit that set them
    bool medians = false;
    OutsideRegions outside = OutsideRegions::refuse;
    std::vector<PlacedRegion> regions;
    std::vector<RowSpan> spans;
    std::vector<RegionChunk> chunks;
};

/// Throws UsageError for more than kMaxSpans spans.
std::shared_ptr<const PlacedRegions> place_regions(std::shared_ptr<const RegionOutlines> outlines,
                                                   const Shape& picture, std::uint64_t version);
/// True if both are the same regions on images of one size, also if each GPU placed them itself. Null equals
/// only null.
bool same_places(const PlacedRegions* one, const PlacedRegions* other);
/// Identifies the pixels of a region by a hash (FNV-1a of its spans).
std::uint64_t outline_of(const PlacedRegions& placed, const PlacedRegion& region);
/// Throws UsageError if a region is fully outside the image, unless OutsideRegions::mark is set.
void refuse_outside(const PlacedRegions& placed);

/// One sentence for each region that is not fully inside the image; beyond ten only their number. Omits what
/// `before` (may be null) already reported for this image size.
std::vector<std::string> placing_lines(const PlacedRegions& placed, const PlacedRegions* before = nullptr);

/// Regions of one executor; placed again when the size of the results changes.
struct RegionsInEffect {
    std::shared_ptr<const RegionOutlines> outlines; ///< null: none
    std::uint64_t version = 0;
    /// Returns `present` if it still applies. Null without regions. Throws UsageError like place_regions().
    std::shared_ptr<const PlacedRegions> on(const Shape& picture,
                                            const std::shared_ptr<const PlacedRegions>& present) const;
};

/// Kind of mean over a region. K² may be averaged (docs/science.md, Regions).
enum class RegionMean : std::uint8_t {
    plain,      ///< of the values: intensities, K², correlation times 2TK²
    of_squares, ///< of K: the root of the mean of K²
    of_inverses ///< of c/K²: c over the mean of K², 1/⟨1/value⟩; an infinite value is K = 0 and counts
};

/// Names of the means in tables and messages, and the inverse; nothing for unknown text.
std::string_view mean_text(RegionMean mean);
std::optional<RegionMean> mean_of_text(std::string_view text);

/// Statistics of one region of one result. NaN where undefined.
struct RegionStatistics {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double mean = kNone;        ///< of the given RegionMean, in the unit of the map
    double mean_of_map = kNone; ///< the plain mean of the valid values
    double std = kNone;         ///< sample standard deviation (n − 1) of the valid values; NaN below two
    double min = kNone, max = kNone; ///< of the valid values
    double median = kNone;           ///< of the valid values; NaN unless requested
    std::uint64_t pixels = 0;        ///< area: valid + infinite + undefined
    std::uint64_t valid = 0;         ///< finite values
    std::uint64_t infinite = 0, undefined = 0;
    /// Samples at full scale in the region: of the raw frame or, if a stage has moved pixels, of the result.
    /// −1: unknown.
    std::int64_t saturated = -1;
};

/// Region statistics of a Result.
struct RegionValues {
    std::shared_ptr<const PlacedRegions> placed;
    RegionMean mean = RegionMean::plain;
    std::vector<RegionStatistics> statistics; ///< in the order of placed->regions
};

} // namespace specklescope
