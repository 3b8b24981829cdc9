// Drawn regions under the mouse: the cursor, the unfinished shape, the symbols of the tools.
#include "tests/ui/drawn.hpp"
#include "ui/regions/region_tools.hpp"

#include <cmath>

namespace specklescope::drawn_regions_test {

class DrawnRegions : public DrawnParts {
protected:
    DrawnRegions() { session_.regions.set_picture(160, 120); }

    /// Draws a frame with the mouse on this pixel of the picture.
    void mouse(double x, double y, bool down = false) {
        ImGuiIO& io = ImGui::GetIO();
        io.MousePos = view_.to_screen({x, y});
        io.MouseDown[0] = down;
        frame([&] {
            ImGui::SetNextWindowPos({0, 0});
            ImGui::SetNextWindowSize(io.DisplaySize);
            ImGui::Begin("picture", nullptr, ImGuiWindowFlags_NoDecoration);
            ImGui::SetCursorScreenPos({0, 0});
            ImGui::InvisibleButton("all of it", io.DisplaySize);
            const std::vector<ImVec2> trail = down ? std::vector{io.MousePos} : std::vector<ImVec2>();
            tools_.mouse({view_}, ImGui::IsItemHovered(), trail, session_);
            tools_.draw({view_}, session_);
            ImGui::End();
            cursor_ = ImGui::GetMouseCursor();
        });
    }
    void rest(double x, double y) {
        mouse(x, y);
        mouse(x, y); // it refers to the drawing of the previous frame
    }
    void click(double x, double y) {
        rest(x, y);
        mouse(x, y, true);
        mouse(x, y);
    }
    void drag(double x0, double y0, double x1, double y1) {
        rest(x0, y0);
        mouse(x0, y0, true);
        mouse((x0 + x1) / 2, (y0 + y1) / 2, true);
        mouse(x1, y1, true);
        mouse(x1, y1);
    }
    /// True if a white line connects the pixels: triangles of that colour cover it.
    bool line_between(const RegionPoint& a, const RegionPoint& b) const {
        constexpr double kPart = 0.4; // two triangles meet in the middle
        const ImVec2 on_it = view_.to_screen({a.x + kPart * (b.x - a.x), a.y + kPart * (b.y - a.y)});
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int i = 0; i < data.CmdListsCount; ++i) {
            const ImDrawList& list = *data.CmdLists[i];
            for (int k = 0; k + 2 < list.IdxBuffer.Size; k += 3) {
                const auto at = [&](int n) -> const ImDrawVert& {
                    return list.VtxBuffer[list.IdxBuffer[k + n]];
                };
                if ((at(0).col | at(1).col | at(2).col) == IM_COL32_WHITE &&
                    ImTriangleContainsPoint(at(0).pos, at(1).pos, at(2).pos, on_it))
                    return true;
            }
        }
        return false;
    }

    const RegionView view_{{0, 0, 1280, 800}, 100, 50, 5, {160, 120, 1, PixelType::f32}};
    Session session_{Settings()};
    RegionTools tools_;
    ImGuiMouseCursor cursor_ = ImGuiMouseCursor_None;
};

TEST_F(DrawnRegions, TheCursorSaysWhichOfThemADragMoves) {
    session_.regions.add(RegionShape::rectangle, {{20, 20}, {59, 49}});
    session_.regions.add(RegionShape::rectangle, {{90, 60}, {139, 99}});
    for (const std::size_t chosen : {0U, 1U})
        for (const std::size_t under : {0U, 1U}) {
            session_.regions.select(chosen);
            const std::vector<RegionPoint> before = session_.regions.regions()[under].points;
            const double x = (before[0].x + before[1].x) / 2, y = (before[0].y + before[1].y) / 2 + 5;
            rest(x, y);
            const ImGuiMouseCursor said = cursor_;
            drag(x, y, x + 4, y + 3);
            const bool moved = session_.regions.regions()[under].points != before;
            EXPECT_EQ(moved, chosen == under);
            EXPECT_EQ(said, moved ? ImGuiMouseCursor_ResizeAll : ImGuiMouseCursor_Hand)
                << chosen << " is selected, the mouse on " << under;
        }
    rest(5, 5);
    EXPECT_EQ(cursor_, ImGuiMouseCursor_Arrow) << "where there is none";
}

TEST_F(DrawnRegions, AnOutlineUnderWayIsSeenFromCornerToCornerAndToTheMouse) {
    const std::vector<RegionPoint> corners = {{20, 20}, {100, 30}, {90, 90}, {30, 100}};
    tools_.choose(RegionTool::polygon);
    for (std::size_t n = 0; n + 1 < corners.size(); ++n) {
        click(corners[n].x, corners[n].y);
        rest(corners[n + 1].x, corners[n + 1].y);
        for (std::size_t i = 0; i <= n; ++i)
            EXPECT_TRUE(line_between(corners[i], corners[i + 1])) << n + 1 << " corners, side " << i;
        EXPECT_FALSE(line_between(corners[n + 1], {corners[n + 1].x + 20, corners[n + 1].y + 20}))
            << "only as far as it has come";
    }
    EXPECT_TRUE(session_.regions.regions().empty());

    tools_.choose(RegionTool::freehand);
    rest(20, 20);
    mouse(20, 20, true);
    for (const RegionPoint& p : corners)
        mouse(p.x, p.y, true);
    for (std::size_t i = 0; i + 1 < corners.size(); ++i)
        EXPECT_TRUE(line_between(corners[i], corners[i + 1])) << "side " << i;
    mouse(30, 100);
    EXPECT_EQ(session_.regions.regions().size(), 1U);
}

/// The chosen tool has its own background with a white symbol.
TEST_F(DrawnRegions, EachToolHasASignThatFillsItsButton) {
    const KeyBindings keys;
    struct Extent {
        float left = 1e9F, right = -1e9F, top = 1e9F, bottom = -1e9F;
        void take(const ImVec2& p) {
            left = std::min(left, p.x), right = std::max(right, p.x);
            top = std::min(top, p.y), bottom = std::max(bottom, p.y);
        }
        bool holds(const ImVec2& p) const {
            return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
        }
        float width() const { return right - left; }
        float height() const { return bottom - top; }
    };
    const auto same = [](ImU32 a, ImU32 b) { return ((a ^ b) & ~IM_COL32_A_MASK) == 0; };
    float below = -1;
    for (const RegionToolInfo& info : region_tools()) {
        tools_.choose(info.tool);
        for (int i = 0; i < 2; ++i)
            frame([&] { draw_region_bar({0, 0, region_bar_width(), 600}, tools_, keys); });
        const std::vector<ImDrawVert> all = drawn_vertices();
        Extent button, sign;
        for (const ImDrawVert& vertex : all)
            if (same(vertex.col, theme::kAccentDim))
                button.take(vertex.pos);
        ASSERT_GT(button.top, below - 1) << info.name << " is not below the one before";
        below = button.bottom;
        std::vector<ImVec2> points;
        for (const ImDrawVert& vertex : all)
            if (same(vertex.col, theme::kText) && button.holds(vertex.pos)) {
                sign.take(vertex.pos);
                points.push_back(vertex.pos);
            }
        EXPECT_GT(sign.width(), button.width() / 3) << info.name;
        EXPECT_GT(sign.height(), button.height() / 3) << info.name;
        EXPECT_NEAR((sign.left + sign.right) / 2, (button.left + button.right) / 2, 2) << info.name;
        EXPECT_NEAR((sign.top + sign.bottom) / 2, (button.top + button.bottom) / 2, 2) << info.name;
        if (info.tool != RegionTool::ellipse)
            continue;
        std::array<int, 4> quarters{}; // a ring with an empty middle
        for (const ImVec2& p : points) {
            const float x = (p.x - sign.left) / sign.width() * 2 - 1,
                        y = (p.y - sign.top) / sign.height() * 2 - 1;
            EXPECT_GT(std::hypot(x, y), 0.5F);
            EXPECT_LT(std::hypot(x, y), 1.05F);
            ++quarters[(x < 0 ? 1U : 0U) + (y < 0 ? 2U : 0U)];
        }
        for (const int count : quarters)
            EXPECT_GT(count, 4);
    }
}

} // namespace specklescope::drawn_regions_test
