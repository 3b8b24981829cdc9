// Lists in the dialog that opens a source: recent sources, cameras, files of a folder. A row has a
// thumbnail, a name and a note.
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/sources/open_dialog.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace specklescope {

namespace {

using theme::dp;

constexpr int kFlags = ImGuiSelectableFlags_DontClosePopups | ImGuiSelectableFlags_AllowDoubleClick;

float picture_width() { return dp(40); }
float row_height() { return dp(36); }

void draw_folder(ImDrawList& draw, const ImVec2& c) {
    const float w = dp(11), h = dp(8);
    draw.AddRectFilled({c.x - w, c.y - h}, {c.x - dp(1), c.y}, theme::kAccentDim, dp(2));
    draw.AddRectFilled({c.x - w, c.y - h + dp(3)}, {c.x + w, c.y + h}, theme::kAccentDim, dp(2));
}

void draw_sheet(ImDrawList& draw, const ImVec2& c, ImU32 color) {
    const float w = dp(7), h = dp(9), ear = dp(4);
    draw.PathLineTo({c.x - w, c.y - h});
    draw.PathLineTo({c.x + w - ear, c.y - h});
    draw.PathLineTo({c.x + w, c.y - h + ear});
    draw.PathLineTo({c.x + w, c.y + h});
    draw.PathLineTo({c.x - w, c.y + h});
    draw.PathStroke(color, ImDrawFlags_Closed, dp(1.2F));
}

/// Draws three wavy lines: a simulated scene, or a camera.
void draw_live(ImDrawList& draw, const ImVec2& c, ImU32 color) {
    constexpr int kSteps = 12;
    for (const float line : {-1.0F, 0.0F, 1.0F}) {
        for (int i = 0; i <= kSteps; ++i) {
            const float t = static_cast<float>(i) / kSteps;
            draw.PathLineTo({c.x + (t - 0.5F) * dp(24), c.y + line * dp(5) + std::sin(t * 6.28F) * dp(2.5F)});
        }
        draw.PathStroke(color, 0, dp(1.2F));
    }
}

void draw_picture(ImDrawList& draw, const ImVec2& low, const ImVec2& high, const Thumbnail& small,
                  const std::string& name) {
    const auto width = static_cast<float>(small.width), height = static_cast<float>(small.height);
    const float scale = std::min((high.x - low.x) / width, (high.y - low.y) / height);
    const ImVec2 c((low.x + high.x) / 2, (low.y + high.y) / 2);
    const ImVec2 half(std::max(width * scale / 2, dp(3)),
                      std::max(height * scale / 2, dp(3))); // also for a very flat image
    const auto id = static_cast<std::intptr_t>(small.texture);
    draw.AddImage(reinterpret_cast<ImTextureID>(id), // NOLINT(performance-no-int-to-ptr)
                  {c.x - half.x, c.y - half.y}, {c.x + half.x, c.y + half.y});
    probe::widget(name, c.x - half.x, c.y - half.y, 2 * half.x, 2 * half.y);
}

} // namespace

struct OpenDialog::Row {
    enum class Sign : std::uint8_t { file, folder, live } sign = Sign::file;
    std::string name, note, id; ///< id: for the probe
    std::string about{};        ///< before the thumbnail's text, in the tooltip
    SourceArgument source{};    ///< empty: no thumbnail
    bool selected = false, possible = true;
};

/// True if it was clicked.
bool OpenDialog::row(const Row& row) {
    ImGui::BeginDisabled(!row.possible);
    const float room = ImGui::GetContentRegionAvail().x, height = row_height();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const bool clicked = ImGui::Selectable(("###" + row.id).c_str(), row.selected, kFlags, {room, height});
    ImGui::EndDisabled();
    probe::item(row.id);
    const Thumbnail* small = row.source.empty() || !row.possible ? nullptr : &thumbnails_.of(row.source);
    std::string note = row.note;
    if (small && !small->word.empty() && small->word != "…")
        note += (note.empty() ? "" : " · ") + small->word;
    std::string text = row.about;
    if (small && !small->about.empty())
        text += (text.empty() ? "" : "\n") + small->about;
    tooltip_beside(text.empty() ? "Click to choose it." : text, row.id.starts_with("open.file."));
    if (small)
        probe::value("open.about." + row.id, small->word + (small->word.empty() ? "" : ": ") + small->about);
    if (!ImGui::IsRectVisible(low, {low.x + room, low.y + height}))
        return clicked;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float edge = dp(2), left = low.x + picture_width() + dp(10);
    const ImVec2 box(low.x + dp(2), low.y + edge), end(box.x + picture_width(), low.y + height - edge);
    const ImVec2 middle((box.x + end.x) / 2, (box.y + end.y) / 2);
    const float dim = row.possible ? 1 : 0.5F;
    if (row.sign == Row::Sign::file)
        draw.AddRectFilled(box, end, theme::kCanvas, dp(3));
    if (row.sign == Row::Sign::folder)
        draw_folder(draw, middle);
    else if (row.sign == Row::Sign::live)
        draw_live(draw, middle, theme::fade(theme::kAccent, dim));
    else if (small && small->texture)
        draw_picture(draw, box, end, *small, "open.picture." + row.id);
    else
        draw_sheet(draw, middle, theme::fade(theme::kDim, dim));
    const float width = low.x + room - left;
    const ImFont& font = *ImGui::GetFont();
    ImFont& fine = *theme::fonts().small;
    const float top = note.empty() ? low.y + (height - font.FontSize) / 2 : low.y + dp(3);
    draw.AddText({left, top}, theme::fade(theme::kText, dim), fitted(font, row.name, width).c_str());
    if (!note.empty())
        draw.AddText(&fine, fine.FontSize, {left, low.y + height - fine.FontSize - dp(4)},
                     theme::fade(theme::kDim, dim), fitted(fine, note, width).c_str());
    return clicked;
}

void OpenDialog::sources(const Session& session) {
    int number = 0;
    const auto choose = [&](const Row& each) {
        if (!row(each))
            return;
        text_ = each.source.empty() ? each.about : each.source.shown();
        opens_ = true;
    };
    hint("Recent");
    const std::set<std::string> none, &gone = missing_.result() ? *missing_.result() : none;
    probe::value("open.gone", static_cast<double>(gone.size()));
    for (const RecentSource& recent : recent_sources(session)) {
        const bool missing = gone.contains(recent.source.revealed());
        const bool file = names_files(recent.source);
        // Cut a path in the middle: its end distinguishes it from others.
        const std::string shown = recent.source.shown();
        const std::size_t slash = file ? shown.find_last_of('/', shown.find('?')) : std::string::npos;
        Row each{.sign = file ? Row::Sign::file : Row::Sign::live,
                 .name = slash == std::string::npos ? shown : shown.substr(slash + 1),
                 .note = missing ? "missing" : recent.note,
                 .id = "open.recent." + std::to_string(number++),
                 .about = shown};
        if (file)
            each.source = recent.source;
        each.possible = !missing;
        choose(each);
    }
    hint("Cameras");
    if (!cameras_.result() || cameras_.busy())
        hint("    looking …");
    else if (cameras_.result()->empty())
        hint("    none found");
    else
        for (const auto& [source, name] : *cameras_.result())
            choose({.sign = Row::Sign::live,
                    .name = source.empty() ? name : source,
                    .note = source.empty() ? "" : name,
                    .id = "open.camera." + std::to_string(number++),
                    .about = source,
                    .possible = !source.empty()});
}

void OpenDialog::files() {
    const auto& folder = folder_.result();
    hint(folder_wanted_ + (folder_.busy() ? "  …" : ""));
    probe::value("open.folder", folder && !folder_.busy() ? folder->path : "");
    if (!folder)
        return;
    if (!folder->error.empty())
        return hint(folder->error, theme::kWarning);
    const std::string base = folder->path == "/" ? "/" : folder->path + "/";
    const TypedPath typed = typed_path(text_);
    const bool here = typed.folder == folder->path;
    std::optional<std::string> next; // applied after the list, which it may replace
    if (folder->path != "/" && ImGui::Selectable("↑ ..", false, kFlags))
        next = (std::filesystem::path(folder->path).parent_path() / "").string();
    probe::item("open.up");
    tooltip("Show the folder that contains this one.");
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows_.size()), row_height() + ImGui::GetStyle().ItemSpacing.y);
    while (clipper.Step())
        for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
            const FolderEntry& entry = folder->entries[rows_[static_cast<std::size_t>(i)]];
            Row each{.sign = entry.folder ? Row::Sign::folder : Row::Sign::file,
                     .name = one_line(entry.name) + (entry.folder ? "/" : ""),
                     .note = entry.folder ? "" : size_text(entry.bytes),
                     .id = "open.file." + entry.name};
            each.about = each.name;
            each.selected = here && entry.name == typed.name;
            const std::string path = base + entry.name;
            if (!entry.folder &&
                path.find("${env:") == std::string::npos) // would be expanded as an environment variable
                each.source = SourceArgument((entry.headerless ? "raw:" : "") + path);
            if (row(each)) {
                next = path + (entry.folder ? "/" : "");
                opens_ = opens_ || (ImGui::IsMouseDoubleClicked(0) && !entry.folder);
            }
        }
    if (rows_.empty())
        hint(folder->entries.empty() && folder->part.empty() ? "No images or videos in this folder."
                                                             : "No matches.");
    if (folder->cut)
        hint("Only " + std::to_string(kMostEntries) + " of them are listed; type a part of the name.");
    if (next) {
        text_ = *next;
        take_text(*next);
    }
}

} // namespace specklescope
