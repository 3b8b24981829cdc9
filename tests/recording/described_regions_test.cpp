// Measured regions in the description of a recording of results, in every format.
#include "analysis/regions_file.hpp"
#include "files/image_file.hpp"
#include "recording/record_file.hpp"
#include "tests/recording/record_helpers.hpp"

namespace specklescope::described_regions_test {

std::vector<Region> outlines(int count, std::size_t corners) {
    std::vector<Region> regions;
    for (int i = 0; i < count; ++i) {
        Region region{.name = "vessel " + std::to_string(i) + " µ \"q\"",
                      .shape = RegionShape::polygon,
                      .points = {},
                      .colour = i % 2 == 0 ? "#12ab9f" : "",
                      .locked = i % 3 == 0};
        for (std::size_t k = 0; k < corners; ++k)
            region.points.push_back(
                {static_cast<double>((7 * i + 5 * static_cast<int>(k)) % 31) / 3, 0.1 * i});
        regions.push_back(std::move(region));
    }
    return regions;
}

class DescribedRegions : public testing::Test {
protected:
    static constexpr Shape kShape{32, 24, 1, PixelType::f32};
    void record(const std::string& name, RecordWhat what, const std::vector<Region>& regions) {
        RecordOptions options;
        options.path = folder_ / name;
        options.what = what;
        const auto sink = make_recorder(options);
        sink->open(stream_of(kShape));
        for (std::uint64_t n = 0; n < 3; ++n) {
            Result result = maker_.make(n);
            auto placed = std::make_shared<PlacedRegions>();
            placed->outlines = make_outlines(regions);
            auto values = std::make_shared<RegionValues>();
            values->placed = placed;
            result.regions = values;
            sink->push(result, true);
        }
        sink->close();
        ASSERT_EQ(sink->status().error, "");
    }
    Json description(const std::string& name) const {
        const std::string path = folder_ / name;
        if (!name.ends_with(".png") && !name.ends_with(".hdr"))
            return description_of(path);
        const auto image = open_image(path);
        EXPECT_TRUE(image->next_page());
        return Json::parse(image->description());
    }
    TemporaryFolder folder_;
    Maker maker_{kShape};
};

TEST_F(DescribedRegions, AreThoseThatWereSet) {
    const std::vector<Region> regions = outlines(9, 5);
    for (const char* name : {"a.tiff", "a.raw", "a.mkv", "a.png", "a.hdr"}) {
        SCOPED_TRACE(name);
        record(name, RecordWhat::processed, regions);
        const Json json = description(name);
        ASSERT_TRUE(json.contains("regions")) << json;
        const Json list = {{"regions", json.at("regions")}};
        EXPECT_TRUE(read_regions_json(list.dump(), name) == regions) << list;
    }
    record("raw.tiff", RecordWhat::raw, regions);
    const Json raw = description("raw.tiff");
    ASSERT_TRUE(raw.contains("chain")) << "on whose results they lie";
    EXPECT_TRUE(read_regions_json(Json{{"regions", raw.at("regions")}}.dump(), "raw") == regions) << raw;
    record("none.tiff", RecordWhat::processed, {});
    EXPECT_FALSE(description("none.tiff").contains("regions"));
}

TEST_F(DescribedRegions, TooMuchIsLeftOutByItsNumber) {
    record("most.hdr", RecordWhat::processed, outlines(1, kMaxDescribedPoints));
    EXPECT_EQ(description("most.hdr").at("regions").at(0).at("points").size(), kMaxDescribedPoints);
    record("points.hdr", RecordWhat::processed, outlines(1, kMaxDescribedPoints + 1));
    std::vector<Region> named = outlines(300, 3);
    for (Region& region : named)
        region.name += std::string(200, 'x');
    record("names.hdr", RecordWhat::processed, named);
    for (const auto& [name, count] : {std::pair{"points.hdr", 1}, {"names.hdr", 300}}) {
        const Json json = description(name);
        EXPECT_FALSE(json.contains("regions")) << name;
        EXPECT_EQ(json.at("regions_left_out"), count) << name;
    }
}

} // namespace specklescope::described_regions_test
