// Parts of the window in small areas: positions and cut texts.
#pragma once

#include "tests/ui/drawn.hpp"
#include "ui/canvas/view.hpp"

namespace specklescope {

class DrawnNarrow : public DrawnParts {
protected:
    /// Box around everything of this colour in the last frame.
    static Rect box_of(ImU32 colour) {
        float x0 = 1e9F, y0 = 1e9F, x1 = -1e9F, y1 = -1e9F;
        for (const ImDrawVert& vertex : drawn_vertices())
            if (vertex.col == colour) {
                x0 = std::min(x0, vertex.pos.x);
                y0 = std::min(y0, vertex.pos.y);
                x1 = std::max(x1, vertex.pos.x);
                y1 = std::max(y1, vertex.pos.y);
            }
        return {x0, y0, x1 - x0, y1 - y0};
    }
    static bool within(const Rect& inner, const Rect& outer) {
        return inner.x >= outer.x - 1 && inner.y >= outer.y - 1 &&
               inner.x + inner.width <= outer.x + outer.width + 1 &&
               inner.y + inner.height <= outer.y + outer.height + 1;
    }
    static bool apart(const Rect& a, const Rect& b) {
        return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
    }
    template <class F> static void on_picture(F&& draw) {
        frame([&] {
            ImGui::SetNextWindowPos({0, 0});
            ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
            ImGui::Begin("picture", nullptr, ImGuiWindowFlags_NoDecoration);
            draw();
            ImGui::End();
        });
    }
    /// Text as drawn, complete, up to the end of the first dialog in it.
    template <class F> static std::string text_of(F&& draw) {
        static std::string text;
        text.clear();
        ImGui::GetIO().SetClipboardTextFn = [](void*, const char* said) { text += said; };
        on_picture([&] {
            ImGui::LogToClipboard(); // a dialog ends the log and would empty a buffer
            draw();
            ImGui::LogFinish();
        });
        return text;
    }
    /// Letters of the last frame beyond the edge of their clip area.
    static int cut_letters() {
        int cut = 0;
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int i = 0; i < data.CmdListsCount; ++i) {
            const ImDrawList& list = *data.CmdLists[i];
            for (const ImDrawCmd& command : list.CmdBuffer)
                for (unsigned k = 0; k < command.ElemCount; ++k) {
                    const ImDrawVert& vertex =
                        list.VtxBuffer[list.IdxBuffer[static_cast<int>(command.IdxOffset + k)]];
                    const bool text = vertex.col == theme::kText || vertex.col == theme::kDim ||
                                      vertex.col == IM_COL32_WHITE;
                    cut += text && vertex.pos.x > command.ClipRect.z + 1 ? 1 : 0;
                }
        }
        return cut;
    }
};

} // namespace specklescope
