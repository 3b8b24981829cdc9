// The table of regions in narrow panels: numbers are complete, names are distinguishable, and rows are
// scrolled into view.
#include "tests/ui/drawn_narrow.hpp"
#include "ui/regions/region_panel.hpp"

namespace specklescope::drawn_table_test {

class DrawnTable : public DrawnNarrow {
protected:
    void fill(int count, double mean, double std, std::uint64_t pixels) {
        auto placed = std::make_shared<PlacedRegions>();
        auto values = std::make_shared<RegionValues>();
        session_.regions.set_picture(200, 200);
        for (int i = 0; i < count; ++i) {
            session_.regions.add(RegionShape::rectangle, {{5.0 + i, 5}, {50.0 + i, 50}});
            PlacedRegion region;
            region.name = session_.regions.regions().back().name;
            placed->regions.push_back(region);
            RegionStatistics statistics;
            statistics.mean = mean;
            statistics.std = std;
            statistics.pixels = pixels;
            values->statistics.push_back(statistics);
        }
        session_.regions.select(std::nullopt);
        values->placed = placed;
        tools_.numbers.values = values;
        tools_.numbers.unit = "1/s";
    }
    /// `behind`: height of further items in the panel.
    void draw(float width, bool log = true, float behind = 0) {
        frame([&] {
            ImGui::SetNextWindowPos({0, 0});
            ImGui::SetNextWindowSize({width, 700});
            ImGui::Begin("panel", nullptr, ImGuiWindowFlags_NoDecoration);
            if (log)
                ImGui::LogToBuffer();
            draw_region_section(session_, tools_);
            said_ = ImGui::GetCurrentContext()->LogBuffer.c_str();
            ImGui::LogFinish();
            ImGui::Dummy({1, behind});
            ImGui::End();
        });
    }
    /// The scrolling window; a log, as in draw(), would make it draw all rows.
    static const ImGuiWindow* rows() {
        for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
            if (window->Active && window->ScrollMax.y > 0 && std::string(window->Name) != "panel")
                return window;
        return nullptr;
    }
    /// For a table of 30 rows with a fixed head.
    static bool in_view(int index) {
        const ImGuiWindow* table = rows();
        if (!table)
            return false;
        const float line = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().CellPadding.y;
        const float top = static_cast<float>(index) * line - table->Scroll.y; // below the head
        return top >= -1 && top + line <= table->InnerRect.GetHeight() - line + 1;
    }
    bool says(const std::string& text) const { return said_.find(text) != std::string::npos; }

    Session session_{Settings()};
    RegionTools tools_;
    std::string said_;
};

TEST_F(DrawnTable, NumbersAreWholeAndNamesCanBeToldApart) {
    for (const auto& [mean, std, pixels] : {std::tuple{0.03091, 0.00123, std::uint64_t{3600}},
                                            {640.8, 1282.0, std::uint64_t{13431}},
                                            {1.2345e-7, 3.21e-8, std::uint64_t{99}},
                                            {-123456.0, 98765.0, std::uint64_t{1048576}}})
        for (const double um : {0.0, 5.0})
            for (const float width : {201.0F, 320.0F, 400.0F, 700.0F}) {
                session_.regions.reset({});
                fill(4, mean, std, pixels);
                tools_.numbers.um_per_px = um;
                for (int i = 0; i < 4; ++i) // to find its widths
                    draw(width);
                EXPECT_EQ(cut_letters(), 0) << mean << " ± " << std << ", " << pixels << " px in " << width;
                for (int i = 1; i <= 4; ++i)
                    EXPECT_TRUE(says(width < 300 ? "reg" : "region " + std::to_string(i)))
                        << mean << " ± " << std << " in " << width << "\n"
                        << said_;
            }
}

TEST_F(DrawnTable, ARowThatIsRenamedByAKeyComesIntoView) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyMap[ImGuiKey_Enter] = 257;
    fill(30, 1, 0.1, 100);
    const auto draw_some = [&] {
        for (int i = 0; i < 6; ++i)
            draw(320, false);
    };
    draw_some();
    ASSERT_TRUE(rows());
    EXPECT_TRUE(in_view(0));
    EXPECT_FALSE(in_view(25));
    session_.regions.select(25);
    draw_some();
    EXPECT_TRUE(in_view(25)) << "it is selected";
    session_.regions.select(2);
    draw_some();
    EXPECT_TRUE(in_view(2));
    EXPECT_FALSE(in_view(25));
    session_.regions.select(25);
    tools_.rename.asked = true;
    draw_some();
    EXPECT_TRUE(in_view(25)) << "it is renamed";
    ASSERT_TRUE(io.WantTextInput) << "its field has the keyboard";
    for (const char letter : {'v', 'e', 'i', 'n'})
        io.AddInputCharacter(static_cast<unsigned>(letter));
    draw(320, false);
    io.KeysDown[257] = true;
    draw(320, false);
    io.KeysDown[257] = false;
    draw(320, false);
    EXPECT_EQ(session_.regions.regions()[25].name, "vein");
}

TEST_F(DrawnTable, ARowThatIsRenamedIsSeenWhereThePanelIsScrolledAway) {
    ImGuiIO& io = ImGui::GetIO();
    for (const int count : {3, 8, 30}) {
        session_.regions.reset({});
        fill(count, 1, 0.1, 100);
        const auto draw_some = [&] {
            for (int i = 0; i < 8; ++i)
                draw(320, false, 2000);
        };
        draw_some();
        ImGuiWindow* const panel = ImGui::FindWindowByName("panel");
        ASSERT_NE(panel, nullptr);
        panel->Scroll.y = panel->ScrollMax.y;
        draw_some();
        ASSERT_GT(panel->Scroll.y, 1000);
        session_.regions.select(static_cast<std::size_t>(count / 2));
        draw_some();
        tools_.rename.asked = true;
        draw_some();
        EXPECT_TRUE(io.WantTextInput) << count << ": its field has the keyboard";
        EXPECT_LT(panel->Scroll.y, 500) << count;
        tools_.rename.index.reset();
        draw_some();
    }
}

TEST_F(DrawnTable, NumbersBehindTheFirstRowsAreWholeAsWell) {
    fill(100, 1, 0.1, 100);
    auto values = std::make_shared<RegionValues>(*tools_.numbers.values);
    values->statistics[80].mean = -1.2345e-107;
    values->statistics[80].std = 3.4567e-108;
    tools_.numbers.values = values;
    tools_.numbers.unit = "";
    for (int i = 0; i < 12; ++i) {
        draw(400, false);
        const float line = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().CellPadding.y;
        if (i < 4)
            continue;
        ASSERT_TRUE(rows());
        const_cast<ImGuiWindow*>(rows())->Scroll.y = 76 * line; // no row is cut there
    }
    draw(400, false);
    ASSERT_TRUE(rows());
    EXPECT_TRUE(in_view(80)) << rows()->Scroll.y << " of " << rows()->ScrollMax.y;
    EXPECT_EQ(cut_letters(), 0);
}

TEST_F(DrawnTable, ANameThatIsBeingTypedIsForNoOtherRegion) {
    fill(3, 1, 0.1, 100);
    session_.regions.select(1);
    tools_.rename.asked = true;
    for (int i = 0; i < 6; ++i)
        draw(320);
    ASSERT_TRUE(ImGui::GetIO().WantTextInput);
    std::vector<Region> others = session_.regions.regions();
    for (Region& region : others)
        region.name = "other " + region.name;
    session_.regions.replace(others); // a recording was opened, or a request arrived
    for (int i = 0; i < 4; ++i)
        draw(320);
    EXPECT_FALSE(tools_.rename.index.has_value());
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(session_.regions.regions()[i].name, others[i].name);
}

} // namespace specklescope::drawn_table_test
