// Region files, our own and ImageJ's, by their first bytes: accepted regions can be set, are equal when
// written and read again, and have each pixel once on an image.
// Parser: analysis/regions_json.cpp analysis/imagej.cpp analysis/region.cpp
#include "analysis/regions_file.hpp"
#include "tests/fuzz/support.hpp"

namespace specklescope::fuzz {
namespace {

void check_places(const std::vector<Region>& regions) {
    constexpr int kWidth = 97, kHeight = 61;
    std::vector<RowSpan> spans;
    for (const Region& region : regions) {
        spans.clear();
        const RegionFit fit = region_spans(region, kWidth, kHeight, spans);
        demand((fit == RegionFit::outside) == spans.empty(),
               "a region outside has pixels, or one inside none");
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const RowSpan& span = spans[i];
            demand(span.x >= 0 && span.y >= 0 && span.y < kHeight && span.length > 0 &&
                       span.x + span.length <= kWidth,
                   "a span is not on the picture");
            demand(i == 0 || spans[i - 1].y < span.y ||
                       (spans[i - 1].y == span.y && spans[i - 1].x + spans[i - 1].length < span.x),
                   "spans overlap or are out of order");
        }
    }
}

void check_regions_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    std::vector<Region> regions;
    const std::string sentence = sentence_of(text.size(), true, [&] {
        if (text.starts_with("Iout"))
            regions = {read_imagej_roi(bytes, "f.roi", "f")};
        else if (text.starts_with("PK"))
            regions = read_imagej_zip(bytes, "f.zip");
        else
            regions = read_regions_json(text, "f.json");
    });
    if (!sentence.empty())
        return demand(sentence.starts_with("f."), "the error does not name its file: '" + sentence + "'");
    check_regions(regions);
    check_places(regions);
    demand(read_regions_json(to_json(regions), "again") == regions,
           "what is written is read back as something else");
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check_regions_of(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
