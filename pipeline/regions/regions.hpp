// Regions of a result as executors see them: spans of rows on a picture of one size, and what is measured
// over them. Outlines, files and names are analysis/'s.
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

/// A straight line on a picture, px; the centre of the first pixel is at (0, 0).
struct LineEnds {
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    bool operator==(const LineEnds&) const = default;
};

/// Where a region lies on a picture.
enum class RegionFit : std::uint8_t {
    whole,
    clipped, ///< some of its pixels would lie outside: only those inside count
    outside  ///< none is inside, or the outline holds no centre of a pixel: an empty region
};
/// "whole", "clipped", "outside".
const char* to_string(RegionFit fit);

/// What becomes of a region that has no pixel on the picture when it is set. When the size of the picture
/// changes later, it is marked in either case.
enum class OutsideRegions : std::uint8_t { refuse, mark };

/// Spans of all regions of a set together may be no more than this, which is 192 MiB.
inline constexpr std::size_t kMaxSpans = std::size_t{1} << 24;

/// Regions whose outlines are known to somebody else (analysis/region.hpp). Never changes: an edit makes
/// another.
class RegionOutlines {
public:
    virtual ~RegionOutlines() = default;
    virtual std::size_t count() const = 0;
    virtual const std::string& name(std::size_t index) const = 0;
    /// What it is, for people: "rectangle".
    virtual std::string shape(std::size_t index) const = 0;
    /// The ends of a region that is a line, from which profiles are taken.
    virtual std::optional<LineEnds> line(std::size_t) const { return std::nullopt; }
    virtual bool medians() const = 0; ///< they are wanted: a second pass over the pixels
    virtual OutsideRegions outside() const = 0;
    /// Appends the pixels of a region on a picture of width × height: spans from the top, in a row from the
    /// left, no pixel twice. Throws UsageError when `spans` would hold more than kMaxSpans.
    virtual RegionFit spans(std::size_t index, int width, int height, std::vector<RowSpan>& spans) const = 0;
};

struct PlacedRegion {
    std::string name, shape;
    std::optional<LineEnds> line; ///< of a line
    RegionFit fit = RegionFit::whole;
    std::uint64_t pixels = 0;          ///< its area on this picture
    std::uint32_t span = 0, spans = 0; ///< its own of PlacedRegions::spans
    std::uint32_t chunk = 0, chunks = 0;
};

/// A part of one region, small enough for one thread's nearest cache and for one block of a GPU.
struct RegionChunk {
    std::uint32_t region = 0, span = 0, spans = 0;
};

/// Regions on a picture of one size.
struct PlacedRegions {
    static constexpr int kSpanPixels = 512;   ///< longest span; a row longer than that has several
    static constexpr int kChunkPixels = 4096; ///< most of a chunk, and
    static constexpr int kChunkSpans = 256;   ///< most spans of it: guesses

    std::shared_ptr<const RegionOutlines> outlines;
    int width = 0, height = 0;
    std::uint64_t version = 0; ///< the edit that set them
    bool medians = false;
    OutsideRegions outside = OutsideRegions::refuse;
    std::vector<PlacedRegion> regions;
    std::vector<RowSpan> spans;
    std::vector<RegionChunk> chunks;
};

/// Throws UsageError where they have more than kMaxSpans.
std::shared_ptr<const PlacedRegions> place_regions(std::shared_ptr<const RegionOutlines> outlines,
                                                   const Shape& picture, std::uint64_t version);
/// The same regions on pictures of one size: of several GPUs each has placed them for itself. Null is
/// nothing's.
bool same_places(const PlacedRegions* one, const PlacedRegions* other);
/// Identifies the pixels of a region: another number for other pixels (FNV-1a of its spans).
std::uint64_t outline_of(const PlacedRegions& placed, const PlacedRegion& region);
/// Throws UsageError if there is a region of which nothing is on the picture, unless such are to be marked.
void refuse_outside(const PlacedRegions& placed);

/// Which regions do not lie wholly on the picture, one sentence for each; beyond ten their number. What
/// `before` (may be null) told of a picture of this size is left out.
std::vector<std::string> placing_lines(const PlacedRegions& placed, const PlacedRegions* before = nullptr);

/// The regions of one executor: placed anew when the size of its results changes.
struct RegionsInEffect {
    std::shared_ptr<const RegionOutlines> outlines; ///< null: none
    std::uint64_t version = 0;
    /// `present` if it still holds. Null without regions. Throws UsageError as place_regions().
    std::shared_ptr<const PlacedRegions> on(const Shape& picture,
                                            const std::shared_ptr<const PlacedRegions>& present) const;
};

/// How the mean over a region is taken. K² is what may be averaged (docs/science.md, Regions).
enum class RegionMean : std::uint8_t {
    plain,      ///< of the values: intensities, K², correlation times 2TK²
    of_squares, ///< of K: the root of the mean of K²
    of_inverses ///< of c/K²: c over the mean of K², 1/⟨1/value⟩; an infinite value is K = 0 and takes part
};

/// What tables and messages say of how their means were taken, and back; nothing for another text.
std::string_view mean_text(RegionMean mean);
std::optional<RegionMean> mean_of_text(std::string_view text);

/// Over the pixels of one region of one result. NaN where there is nothing to tell.
struct RegionStatistics {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double mean = kNone;        ///< as RegionMean says, in the unit of the map
    double mean_of_map = kNone; ///< the plain mean of the valid values
    double std = kNone;         ///< sample standard deviation (n − 1) of the valid values; NaN below two
    double min = kNone, max = kNone; ///< of the valid values
    double median = kNone;           ///< of the valid values; NaN as well where it was not asked for
    std::uint64_t pixels = 0;        ///< area: valid + infinite + undefined
    std::uint64_t valid = 0;         ///< finite values
    std::uint64_t infinite = 0, undefined = 0;
    /// Samples of the raw frame in the region at full scale; where a stage has moved pixels, of the result.
    /// −1 where neither can be told.
    std::int64_t saturated = -1;
};

/// What a Result carries.
struct RegionValues {
    std::shared_ptr<const PlacedRegions> placed;
    RegionMean mean = RegionMean::plain;
    std::vector<RegionStatistics> statistics; ///< in the order of placed->regions
};

} // namespace specklescope
