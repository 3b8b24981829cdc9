// Regions in JSON: written ones are read back, errors name the line.
#include "analysis/regions_file.hpp"

#include "base/error.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace specklescope::regions_json_test {

TEST(RegionsJson, TheExampleOfTheGuideIsRead) {
    const std::vector<Region> regions = read_regions_json(
        R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},{"name":"tri","shape":"polygon","points":[[2,2],[40,4],[20,40]]}]})",
        "r.json");
    ASSERT_EQ(regions.size(), 2U);
    EXPECT_EQ(regions[0], (Region{"box", RegionShape::rectangle, {{10, 8}, {29, 27}}, "", false}));
    EXPECT_EQ(regions[1], (Region{"tri", RegionShape::polygon, {{2, 2}, {40, 4}, {20, 40}}, "", false}));
    EXPECT_TRUE(read_regions_json(R"({"regions":[]})", "r.json").empty());
}

TEST(RegionsJson, WhatIsWrittenIsReadBackAndReadByPython) {
    const TemporaryFolder folder;
    std::mt19937_64 random = test::test_random(0x15C1);
    std::uniform_real_distribution<double> value(-1000, 1000);
    std::vector<Region> regions;
    for (int i = 0; i < 200; ++i) {
        const auto shape = static_cast<RegionShape>(i % 5);
        const bool corners = shape == RegionShape::polygon || shape == RegionShape::freehand;
        Region region{"r, \"quoted\" \\" + std::to_string(i) + " µ",
                      shape,
                      {},
                      i % 3 == 0 ? "#12abEF" : "",
                      i % 2 == 0};
        for (int k = 0; k < (corners ? 3 + i % 7 : 2); ++k)
            region.points.push_back({value(random), k == 0 ? std::round(value(random)) : value(random)});
        regions.push_back(region);
    }
    test::write_file(folder / "r.json", to_json(regions));
    EXPECT_EQ(load_regions(folder / "r.json"), regions);
    EXPECT_TRUE(test::python(folder,
                             "import json; r = json.load(open('r.json'))['regions']\n"
                             "assert len(r) == 200 and r[7]['name'] == 'r, \"quoted\" \\\\7 µ', r[7]\n"
                             "assert r[4]['shape'] == 'line' and len(r[4]['points']) == 2\n"))
        << test::read_file(folder / "python.log");
}

/// The text, and the error after the file's name.
TEST(RegionsJson, ErrorsNameTheLine) {
    const std::string good = R"({"name":"a","shape":"line","points":[[0,0],[1,1]]})";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "line 1, byte 1: it is not JSON."},
        {"{\"regions\":\n[\n" + good + "\n,}", "line 4, byte "},
        {"{\"regions\":[" + good + "]} x", "line 1, byte "},
        {"[1,\n 2", "line 2, byte 7: it is not JSON."},
        {"[]", "line 1: the whole is a list; allowed: an object in braces."},
        {"{}", "line 1: there is no list of regions; allowed: {\"regions\":[…]}."},
        {"{\"region\":[]}", "line 1: there is no key 'region' here; allowed: regions."},
        {"{\"regions\":[],\n\"regions\":[]}", "line 2, byte 24: the key 'regions' is given twice"},
        {"{\n\n\"regions\":7}", "line 3: regions is a number; allowed: a list."},
        {"{\"regions\":[\n7\n]}", "line 2: a region is a number; allowed: an object in braces."},
        {"{\"regions\":[\n" + good + ",\n" + good + "]}",
         "line 3: the region of line 2 has the name 'a' too; give each one a name of its own."},
        {R"({"regions":[{"name":"a","shape":"circle","points":[]}]})",
         "line 1: there is no shape 'circle'; allowed: rectangle, ellipse, polygon, freehand, line."},
        {R"({"regions":[{"name":"a","shape":"line"}]})", "line 1: the region has no points; allowed: {"},
        {R"({"regions":[{"shape":"line","points":[[0,0],[1,1]]}]})", "line 1: the region has no name;"},
        {R"({"regions":[{"name":"","shape":"line","points":[[0,0],[1,1]]}]})",
         "line 1: A region has an empty name"},
        {"{\"regions\":[{\"name\":\"a\",\"shape\":\"line\",\n\"points\":[[0,0],\n[1,\"1\"]]}]}",
         "line 3: a point is a list; allowed: [x, y], two numbers."},
        {R"({"regions":[{"name":"a","shape":"line","points":[[0,0],[1,1,1]]}]})",
         "line 1: a point is a list"},
        {R"({"regions":[{"name":"a","shape":"line","points":[[0,0],[1,NaN]]}]})", "it is not JSON."},
        {"{\"regions\":[{\"name\":\"a\",\"shape\":\"line\",\n\"points\":[[0,0],[1,1e999]]}]}",
         "line 2, byte 64: a number is too large."},
        {R"({"regions":[{"name":"a","shape":"line","points":[[0,0],[1,1e9]]}]})",
         "line 1: Region 'a' has a coordinate outside any image; allowed: −131072…131072 px."},
        {R"({"regions":[{"name":"a","shape":"line","points":[[0,0],[1,1]],"locked":1}]})",
         "line 1: locked is a number; allowed: true, false."},
        {R"({"regions":[{"name":"a","shape":"line","points":[[0,0],[1,1]],"color":"#000000"}]})",
         "line 1: there is no key 'color' in a region; allowed: name, shape, points, colour, locked."},
        {std::string(50, '[') + std::string(50, ']'),
         "line 1, byte 7: lists and objects lie more than 6 deep in each other."},
        {"{\"regions\":[{\"name\":\"\xff\",\"shape\":\"line\",\"points\":[[0,0],[1,1]]}]}",
         "it is not JSON."}};
    for (const auto& [text, sentence] : cases) {
        try {
            read_regions_json(text, "r.json");
            ADD_FAILURE() << "read: " << text;
        } catch (const UsageError& error) {
            const std::string what = error.what();
            EXPECT_TRUE(what.starts_with("r.json, line ")) << what;
            EXPECT_NE(what.find(sentence), std::string::npos) << what << "\nfor\n" << text;
        }
    }
}

/// Small files that would need gigabytes or hours.
TEST(RegionsJson, ExcessiveFilesAreRefusedWithAShortMessage) {
    std::string keys = "{", values = "{\"regions\":[";
    for (int i = 0; i < 300000; ++i)
        keys += "\"" + std::to_string(i) + "\":1,";
    for (int i = 0; i < (1 << 21); ++i)
        values += "1,";
    const std::string name(100000, 'k'), one = "{\"" + name + "\":1";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {keys + "\"z\":1}", "an object has more than 64 keys."},
        {values + "1]}", "there are more than 2097152 values."},
        {one + "}", "there is no key 'kkk"},
        {one + ",\"" + name + "\":1}", "kkk' is given twice; leave one of the two out."}};
    for (const auto& [text, sentence] : cases) {
        try {
            read_regions_json(text, "r.json");
            ADD_FAILURE() << "read: " << sentence;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find(sentence), std::string::npos) << error.what();
            EXPECT_LT(std::strlen(error.what()), 300U);
        }
    }
}

TEST(RegionsJson, ThousandsAreReadAndMoreAreRefused) {
    const auto text = [](std::size_t count) {
        std::vector<Region> regions(count, {"", RegionShape::rectangle, {{1, 1}, {2, 2}}, "", false});
        for (std::size_t i = 0; i < count; ++i)
            regions[i].name = "r" + std::to_string(i);
        return to_json(regions);
    };
    EXPECT_EQ(read_regions_json(text(kMaxRegions), "r.json").size(), kMaxRegions);
    EXPECT_THROW(read_regions_json(text(kMaxRegions + 1), "r.json"), UsageError);
}

} // namespace specklescope::regions_json_test
