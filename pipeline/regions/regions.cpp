#include "pipeline/regions/regions.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace specklescope {

namespace {

/// Splits long spans from `first` on, in place.
void cut_spans(std::vector<RowSpan>& spans, std::size_t first) {
    constexpr int kMost = PlacedRegions::kSpanPixels;
    std::size_t more = 0;
    for (std::size_t i = first; i < spans.size(); ++i)
        more += static_cast<std::size_t>((spans[i].length - 1) / kMost);
    if (more == 0)
        return;
    std::size_t from = spans.size();
    spans.resize(spans.size() + more);
    for (std::size_t to = spans.size(); from > first;) {
        const RowSpan whole = spans[--from];
        for (int part = (whole.length - 1) / kMost; part >= 0; --part)
            spans[--to] = {whole.x + part * kMost, whole.y, std::min(kMost, whole.length - part * kMost)};
    }
}

void add_chunks(PlacedRegions& placed, std::uint32_t index) {
    PlacedRegion& region = placed.regions[index];
    region.chunk = static_cast<std::uint32_t>(placed.chunks.size());
    const std::uint32_t end = region.span + region.spans;
    for (std::uint32_t span = region.span; span < end;) {
        RegionChunk chunk{index, span, 0};
        int pixels = 0;
        while (span < end && chunk.spans < PlacedRegions::kChunkSpans &&
               (chunk.spans == 0 || pixels + placed.spans[span].length <= PlacedRegions::kChunkPixels)) {
            pixels += placed.spans[span++].length;
            ++chunk.spans;
        }
        region.pixels += static_cast<std::uint64_t>(pixels);
        placed.chunks.push_back(chunk);
    }
    region.chunks = static_cast<std::uint32_t>(placed.chunks.size()) - region.chunk;
}

std::string size_text(const PlacedRegions& placed) {
    return std::to_string(placed.width) + "×" + std::to_string(placed.height);
}

constexpr std::array<std::pair<RegionMean, std::string_view>, 3> kMeans = {
    {{RegionMean::plain, "of the values, as mean_of_map"},
     {RegionMean::of_squares, "the root of the mean of K²"},
     {RegionMean::of_inverses, "of the mean of K², converted as the map is: 1/⟨1/value⟩"}}};

} // namespace

std::string_view mean_text(RegionMean mean) { return kMeans[static_cast<std::size_t>(mean)].second; }

std::optional<RegionMean> mean_of_text(std::string_view text) {
    for (const auto& [mean, said] : kMeans)
        if (text == said)
            return mean;
    return std::nullopt;
}

const char* to_string(RegionFit fit) {
    return fit == RegionFit::whole ? "whole" : fit == RegionFit::clipped ? "clipped" : "outside";
}

bool same_places(const PlacedRegions* one, const PlacedRegions* other) {
    return one == other || (one && other && one->outlines == other->outlines && one->width == other->width &&
                            one->height == other->height);
}

std::uint64_t outline_of(const PlacedRegions& placed, const PlacedRegion& region) {
    std::uint64_t hash = 14695981039346656037U;
    const auto take = [&](std::int32_t value) {
        hash = (hash ^ static_cast<std::uint32_t>(value)) * 1099511628211U;
    };
    for (std::uint32_t i = region.span; i < region.span + region.spans; ++i) {
        take(placed.spans[i].x);
        take(placed.spans[i].y);
        take(placed.spans[i].length);
    }
    return hash;
}

std::shared_ptr<const PlacedRegions> place_regions(std::shared_ptr<const RegionOutlines> given,
                                                   const Shape& picture, std::uint64_t version) {
    const RegionOutlines& outlines = *given;
    auto placed = std::make_shared<PlacedRegions>();
    placed->outlines = std::move(given);
    placed->width = picture.width;
    placed->height = picture.height;
    placed->version = version;
    placed->medians = outlines.medians();
    placed->outside = outlines.outside();
    for (std::size_t i = 0; i < outlines.count(); ++i) {
        PlacedRegion region;
        region.name = outlines.name(i);
        region.shape = outlines.shape(i);
        region.line = outlines.line(i);
        const std::size_t first = placed->spans.size();
        region.span = static_cast<std::uint32_t>(first);
        region.fit = outlines.spans(i, picture.width, picture.height, placed->spans);
        cut_spans(placed->spans, first);
        region.spans = static_cast<std::uint32_t>(placed->spans.size() - first);
        placed->regions.push_back(std::move(region));
        add_chunks(*placed, static_cast<std::uint32_t>(i));
    }
    return placed;
}

void refuse_outside(const PlacedRegions& placed) {
    if (placed.outside == OutsideRegions::mark)
        return;
    for (const PlacedRegion& region : placed.regions)
        if (region.fit == RegionFit::outside)
            throw UsageError("Region '" + region.name + "' has no pixel in the image of " +
                             size_text(placed) + " that the chain gives. Move it, or remove it.");
}

std::vector<std::string> placing_lines(const PlacedRegions& placed, const PlacedRegions* before) {
    constexpr std::size_t kMost = 10;
    std::unordered_map<std::string_view, RegionFit> told;
    if (before && before->width == placed.width && before->height == placed.height)
        for (const PlacedRegion& region : before->regions)
            told.emplace(region.name, region.fit);
    std::vector<std::string> lines;
    std::size_t more = 0;
    for (const PlacedRegion& region : placed.regions) {
        const auto known = told.find(region.name);
        if (region.fit == RegionFit::whole || (known != told.end() && known->second == region.fit))
            continue;
        if (lines.size() == kMost) {
            ++more;
            continue;
        }
        lines.push_back("Region '" + region.name + "' lies " +
                        (region.fit == RegionFit::clipped ? "partly" : "wholly") + " outside the image of " +
                        size_text(placed) + ": " +
                        (region.fit == RegionFit::clipped
                             ? "its " + std::to_string(region.pixels) + " pixels inside are measured."
                             : std::string("it has no pixels and no numbers.")));
    }
    if (more > 0)
        lines.push_back(std::to_string(more) + " more regions are partly or wholly outside the image.");
    return lines;
}

std::shared_ptr<const PlacedRegions>
RegionsInEffect::on(const Shape& picture, const std::shared_ptr<const PlacedRegions>& present) const {
    if (!outlines)
        return nullptr;
    const bool holds = present && present->version == version && present->width == picture.width &&
                       present->height == picture.height;
    return holds ? present : place_regions(outlines, picture, version);
}

} // namespace specklescope
