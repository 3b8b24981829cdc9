// Parts of the window without the window: Dear ImGui in memory, with access to the drawing commands.
#pragma once

#include "ui/canvas/theme.hpp"

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <string>
#include <vector>

namespace specklescope {

/// Vertices of the last frame, in drawing order.
inline std::vector<ImDrawVert> drawn_vertices() {
    std::vector<ImDrawVert> all;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
        all.insert(all.end(), data.CmdLists[i]->VtxBuffer.begin(), data.CmdLists[i]->VtxBuffer.end());
    return all;
}

class DrawnParts : public testing::Test {
protected:
    DrawnParts() {
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {1280, 800};
        io.DeltaTime = 0.02F;
        theme::apply(1);
        theme::load_fonts(1, nullptr);
        unsigned char* pixels = nullptr;
        int width = 0, height = 0;
        io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
    }
    ~DrawnParts() override { ImGui::DestroyContext(); }

    template <class F> static void frame(F&& draw) {
        ImGui::NewFrame();
        draw();
        ImGui::Render();
    }
    static const ImGuiWindow* window(const char* name) {
        const ImGuiWindow* found = ImGui::FindWindowByName(name);
        return found && found->Active ? found : nullptr;
    }
};

} // namespace specklescope
