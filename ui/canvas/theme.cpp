#include "ui/canvas/theme.hpp"

#include "config/data_folder.hpp"

#include <imgui_freetype.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace specklescope::theme {

namespace {

Fonts loaded;
float current_scale = 1;

// Glyph ranges for file names, as far as DejaVu Sans has them: Latin, Greek (τ, β, µ), Cyrillic, Vietnamese
// Latin, thin spaces, dashes and quotation marks, superscripts, arrows, ∞ ≤ ≥, geometric shapes.
constexpr std::array<ImWchar, 21> kRanges = {0x0020, 0x024F, 0x0370, 0x03FF, 0x0400, 0x045F, 0x1EA0,
                                             0x1EFF, 0x2000, 0x2040, 0x2070, 0x209F, 0x2190, 0x21FF,
                                             0x2200, 0x22FF, 0x25A0, 0x25FF, 0x2308, 0x230B, 0};

std::string find_font(const char* file) {
    for (const std::string& folder :
         std::vector<std::string>{data_folder() + "/specklescope/fonts/", "/usr/share/fonts/truetype/dejavu/",
                                  "/usr/share/fonts/dejavu/", "/usr/share/fonts/TTF/",
                                  "/usr/share/fonts/dejavu-sans-fonts/", "/usr/local/share/fonts/"}) {
        std::string path = folder + file;
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored))
            return path;
    }
    return {};
}

/// Latin-1, what units and changes are written with, dashes.
constexpr std::array<ImWchar, 13> kFewRanges = {0x0020, 0x00FF, 0x0394, 0x0394, 0x03BC, 0x03C4, 0x2009,
                                                0x2026, 0x2070, 0x2089, 0x2212, 0x2212, 0};

ImFont* add(const std::string& path, float pixels, const ImWchar* ranges = kRanges.data()) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    ImFontConfig config;
    if (!path.empty())
        if (ImFont* font = atlas.AddFontFromFileTTF(path.c_str(), pixels, &config, ranges))
            return font;
    config.SizePixels = pixels;
    return atlas.AddFontDefault(&config);
}

} // namespace

void load_fonts(float scale, std::string* note) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
    const std::string regular = find_font("DejaVuSans.ttf");
    std::string bold = find_font("DejaVuSans-Bold.ttf");
    if (regular.empty() && note)
        *note =
            "DejaVu Sans was not found (package fonts-dejavu-core); the window uses a plain built-in font.";
    if (bold.empty())
        bold = regular;
    loaded.normal = add(regular, 14.0F * scale);
    loaded.bold = add(bold, 14.0F * scale);
    loaded.small = add(regular, 12.0F * scale);
    loaded.large = add(bold, 18.0F * scale);
    loaded.huge = add(bold, 64.0F * scale, kFewRanges.data());
}

const Fonts& fonts() { return loaded; }
float dp(float px) { return px * current_scale; }

void apply(float scale, bool light) {
    current_scale = scale;
    palette = light ? kLightPalette : kDarkPalette;
    ImGuiStyle style;
    light ? ImGui::StyleColorsLight(&style) : ImGui::StyleColorsDark(&style);
    style.WindowPadding = {14, 12};
    style.FramePadding = {9, 5};
    style.ItemSpacing = {8, 7};
    style.ItemInnerSpacing = {6, 4};
    style.ScrollbarSize = 10;
    style.GrabMinSize = 10;
    style.WindowRounding = 0;
    style.ChildRounding = 5;
    style.FrameRounding = 4;
    style.PopupRounding = 6;
    style.GrabRounding = 3;
    style.ScrollbarRounding = 5;
    style.WindowBorderSize = 0;
    style.PopupBorderSize = 1;
    style.FrameBorderSize = 0;
    const auto set = [&style](ImGuiCol slot, ImU32 color) { style.Colors[slot] = vec(color); };
    set(ImGuiCol_Text, kText);
    set(ImGuiCol_TextDisabled, kDim);
    set(ImGuiCol_WindowBg, kPanel);
    set(ImGuiCol_ChildBg, IM_COL32(0, 0, 0, 0));
    set(ImGuiCol_PopupBg, fade(kBar, 0.98F));
    set(ImGuiCol_Border, kLine);
    set(ImGuiCol_TitleBg, kBar);
    set(ImGuiCol_TitleBgActive, kBar);
    set(ImGuiCol_FrameBg, kField);
    set(ImGuiCol_FrameBgHovered, kFieldHover);
    set(ImGuiCol_FrameBgActive, kFieldHover);
    set(ImGuiCol_Button, kField);
    set(ImGuiCol_ButtonHovered, kFieldHover);
    set(ImGuiCol_ButtonActive, kAccentDim);
    set(ImGuiCol_Header, kField);
    set(ImGuiCol_HeaderHovered, kFieldHover);
    set(ImGuiCol_HeaderActive, kAccentDim);
    set(ImGuiCol_CheckMark, kAccent);
    set(ImGuiCol_SliderGrab, kAccent);
    set(ImGuiCol_SliderGrabActive, kAccent);
    set(ImGuiCol_Separator, kLine);
    set(ImGuiCol_ScrollbarBg, fade(kField, 0.6F));
    set(ImGuiCol_ScrollbarGrab, fade(kDim, 0.6F));
    set(ImGuiCol_ScrollbarGrabHovered, kDim);
    set(ImGuiCol_ScrollbarGrabActive, kAccent);
    set(ImGuiCol_TextSelectedBg, kAccentDim);
    set(ImGuiCol_NavHighlight, kAccent);
    set(ImGuiCol_ModalWindowDimBg, IM_COL32(6, 8, 10, light ? 90 : 160));
    style.ScaleAllSizes(scale);
    ImGui::GetStyle() = style;
}

} // namespace specklescope::theme
