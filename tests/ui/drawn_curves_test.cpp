// Drawn curves, tools and names are complete.
#include "tests/ui/drawn_narrow.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/regions/region_tools.hpp"
#include "ui/traces/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope::drawn_curves_test {

class DrawnCurves : public DrawnNarrow {
protected:
    static constexpr ImU32 kColour = IM_COL32(255, 170, 187, 255);
    /// True if a triangle of only this colour covers the point.
    static bool drawn_at(const ImVec2& place) {
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int i = 0; i < data.CmdListsCount; ++i) {
            const ImDrawList& list = *data.CmdLists[i];
            for (int k = 0; k + 2 < list.IdxBuffer.Size; k += 3) {
                const auto at = [&](int n) -> const ImDrawVert& {
                    return list.VtxBuffer[list.IdxBuffer[k + n]];
                };
                if (at(0).col == kColour && at(1).col == kColour && at(2).col == kColour &&
                    ImTriangleContainsPoint(at(0).pos, at(1).pos, at(2).pos, place))
                    return true;
            }
        }
        return false;
    }
};

/// With samples close together, and far enough apart for dots.
TEST_F(DrawnCurves, APeakHangsTogetherWithItsFlanks) {
    const PlotArea plot{{60, 20, 400, 200}, 0, 400, {0, 1}};
    for (const int count : {66, 20}) {
        std::vector<TraceColumn> columns;
        for (int i = 0; i < count; ++i) {
            const double value = i % 5 == 2 ? 0.9 : i % 7 == 3 ? 0.05 : 0.4 + 0.01 * (i % 3);
            columns.push_back({396 / count * i + 3, value, value, i == 0 || i == 10});
        }
        on_picture([&] { draw_curve(plot, columns, kColour, std::numeric_limits<double>::quiet_NaN()); });
        const auto place = [&](std::size_t i) {
            return ImVec2(static_cast<float>(plot.x(columns[i].time_ns)),
                          static_cast<float>(plot.y(columns[i].low)));
        };
        for (std::size_t i = 1; i < columns.size(); ++i)
            for (const float part : {0.3F, 0.45F, 0.7F}) { // two triangles meet in the middle
                const ImVec2 a = place(i - 1), b = place(i);
                EXPECT_EQ(drawn_at({a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)}), !columns[i].broken)
                    << "of " << count << ", between sample " << i - 1 << " and the next, " << part;
            }
    }
}

TEST_F(DrawnCurves, ASampleBetweenTwoGapsIsSeen) {
    const PlotArea plot{{60, 20, 400, 200}, 0, 400, {0, 1}};
    std::vector<TraceColumn> columns;
    columns.reserve(80);
    for (int i = 0; i < 80; ++i)
        columns.push_back({5 * i, 0.5, 0.5, i == 0 || i == 40 || i == 41});
    on_picture([&] { draw_curve(plot, columns, kColour, std::numeric_limits<double>::quiet_NaN()); });
    EXPECT_TRUE(drawn_at({static_cast<float>(plot.x(200)), static_cast<float>(plot.y(0.5))}));
    EXPECT_FALSE(drawn_at({static_cast<float>(plot.x(197)), static_cast<float>(plot.y(0.5))}));
}

TEST_F(DrawnCurves, OfTheTimeTwoNumbersAtLeastAreSaid) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    for (const double width : {105.0, 174.0, 400.0})
        for (const double from : {0.0, 6.0, 9.97, 14.2}) {
            const auto begin = static_cast<std::int64_t>(from * kSecond);
            const PlotArea plot{{60, 20, width, 100}, begin, begin + 10 * kSecond, {0, 1}};
            on_picture([&] { draw_axes(plot, "SFI", "1/s"); });
            std::vector<float> corners; // of the letters below it
            for (const ImDrawVert& vertex : drawn_vertices())
                if (vertex.col == theme::kDim && vertex.pos.y > 122)
                    corners.push_back(vertex.pos.x);
            std::sort(corners.begin(), corners.end());
            int numbers = corners.empty() ? 0 : 1;
            for (std::size_t i = 1; i < corners.size(); ++i)
                numbers += corners[i] > corners[i - 1] + 8 ? 1 : 0;
            EXPECT_GE(numbers, 2) << "from " << from << " s in " << width;
        }
}

TEST_F(DrawnCurves, EachToolIsSeenInALowWindow) {
    const KeyBindings keys;
    RegionTools tools;
    for (const double height : {80.0, 150.0, 190.0, 700.0}) {
        for (int i = 0; i < 4; ++i)
            frame([&] { draw_region_bar({0, 46, region_bar_width(), height}, tools, keys); });
        const ImGuiWindow* bar = window(parts::kRegionTools);
        ASSERT_TRUE(bar);
        EXPECT_EQ(bar->ScrollMax.y, 0) << height;
        EXPECT_GT(bar->ContentSize.y, std::min(height, 150.0) * 0.7) << height;
    }
}

TEST_F(DrawnCurves, TheMeanBehindALongNameIsSeen) {
    Session session{Settings()};
    session.regions.set_picture(100, 100);
    session.regions.add(RegionShape::rectangle, {{20, 40}, {60, 70}});
    session.regions.rename(0, "artery near the left middle cerebral branch");
    session.regions.select(0);
    RegionTools tools;
    auto placed = std::make_shared<PlacedRegions>();
    placed->regions.push_back({});
    placed->regions[0].name = session.regions.regions()[0].name;
    auto values = std::make_shared<RegionValues>();
    values->placed = placed;
    values->statistics.push_back({});
    values->statistics[0].mean = 925.4;
    tools.numbers.values = values;
    for (const double width : {150.0, 200.0, 300.0, 600.0}) {
        const RegionView view{{10, 10, width, 300}, 10, 10, 1.4, {100, 100, 1, PixelType::f32}};
        on_picture([&] { tools.draw({view}, session); });
        EXPECT_EQ(cut_letters(), 0) << width;
        float right = 0; // of its letters
        for (const ImDrawVert& vertex : drawn_vertices())
            if (vertex.col == IM_COL32_WHITE && vertex.pos.y < 60)
                right = std::max(right, vertex.pos.x);
        EXPECT_LE(right, 10 + width);
        EXPECT_GT(right, 10 + 0.6 * std::min(width, 350.0)) << "with as much of the name as has room";
    }
}

} // namespace specklescope::drawn_curves_test
