// Recordings say where each frame lay in the file that it came from, jumps included.
#include "tests/recording/record_helpers.hpp"

#include "sources/gst/gst_container.hpp"

namespace specklescope::positions_test {

const std::vector<std::uint64_t> kPlaces = {5, 6, 20, 21, 3};

void record(const std::string& path, bool from_file) {
    const Shape shape{32, 24, 1, PixelType::u8};
    Maker maker(shape);
    const auto sink = make_recorder({.path = path, .what = RecordWhat::raw});
    sink->open(stream_of(shape, 25));
    for (std::size_t i = 0; i < kPlaces.size(); ++i) {
        Result result = maker.make(i);
        if (from_file)
            result.info.position = kPlaces[i];
        sink->push(result, true);
    }
    sink->close();
    ASSERT_EQ(sink->status().error, "");
    ASSERT_EQ(sink->status().written, kPlaces.size());
}

std::vector<std::uint64_t> places_in(const std::string& text) {
    std::vector<std::uint64_t> places;
    const std::string key = "\"position\":";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
        places.push_back(std::stoull(text.substr(at + key.size())));
    return places;
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Positions, OfEachFrameInRawAndTiff) {
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(record(folder / "a.raw", true));
    EXPECT_EQ(places_in(bytes_of(folder / "a.raw.jsonl")), kPlaces);
    ASSERT_NO_FATAL_FAILURE(record(folder / "a.tiff", true));
    EXPECT_EQ(places_in(bytes_of(folder / "a.tiff")), kPlaces);
    ASSERT_NO_FATAL_FAILURE(record(folder / "live.raw", false));
    EXPECT_EQ(bytes_of(folder / "live.raw.jsonl").find("position"), std::string::npos);
}

TEST(Positions, WhereTheyJumpInMatroska) {
    const TemporaryFolder folder;
    ASSERT_NO_FATAL_FAILURE(record(folder / "a.mkv", true));
    const std::string texts = matroska_texts(folder / "a.mkv");
    const Json json = Json::parse(texts.substr(texts.find("{\"finished\"")), nullptr, false);
    EXPECT_EQ(json["frames"]["position"], Json::parse("[5,1,14,1,-18]")) << texts;
    ASSERT_NO_FATAL_FAILURE(record(folder / "live.mkv", false));
    EXPECT_EQ(matroska_texts(folder / "live.mkv").find("position"), std::string::npos);
}

} // namespace specklescope::positions_test
