// Right side of the dialog that opens a source: the first frame, and the form for a file without a header.
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/sources/open_dialog.hpp"

#include <algorithm>

namespace specklescope {

void OpenDialog::RawForm::begin(const std::string& file, std::uint64_t length) {
    needed = true;
    path = file;
    bytes = length;
    header = 0;
    sizes = raw_sizes(bytes, 0, path);
    size = sizes.empty() ? RawSize{0, 0, "", 0} : sizes.front();
}

std::string OpenDialog::RawForm::draw() {
    hint("No header: enter the size of a frame. " + size_text(bytes) +
         (sizes.empty() ? " fit no usual size in whole frames." : " could be:"));
    const auto label = [](const RawSize& one) {
        return std::to_string(one.width) + " × " + std::to_string(one.height) + " " + one.format + ", " +
               count_text(one.frames) + (one.frames == 1 ? " frame" : " frames");
    };
    ImGui::SetNextItemWidth(-1);
    if (ImGui::BeginCombo("##sizes", size.frames > 0 ? label(size).c_str() : "another size")) {
        close_on_escape();
        for (const RawSize& one : sizes)
            if (ImGui::Selectable(label(one).c_str()))
                size = one;
        ImGui::EndCombo();
    }
    probe::item("open.raw.sizes");
    tooltip("Sizes that fit the length of the file.");
    probe::value("open.raw.sizes", static_cast<double>(sizes.size()));
    const auto number = [&](const char* name, int& value) {
        control_label(name);
        ImGui::InputInt((std::string("##") + name).c_str(), &value, 1, 16);
        value = std::clamp(value, 0, 1 << 30);
        probe::item(std::string("open.raw.") + name);
        tooltip(std::string(name) + " of a frame in pixels.");
    };
    number("Width", size.width);
    number("Height", size.height);
    control_label("Format");
    if (ImGui::BeginCombo("##format", size.format.c_str())) {
        close_on_escape();
        for (const std::string& format : raw_formats()) {
            if (ImGui::Selectable(format.c_str(), format == size.format))
                size.format = format;
            probe::item("open.raw.format." + format);
            tooltip("format=" + format);
        }
        ImGui::EndCombo();
    }
    probe::item("open.raw.Format");
    tooltip("Pixel format of the frames. specklescope help raw explains each.");
    const int before = header;
    number("Header", header);
    if (header != before)
        sizes = raw_sizes(bytes, static_cast<std::uint64_t>(header), path);
    const std::uint64_t frame = raw_frame_bytes(size), all = pixels();
    size.frames = frame > 0 && all % frame == 0 ? all / frame : 0;
    if (frame > 0 && size.frames == 0)
        hint(all < frame ? "The file is shorter than one such frame."
                         : std::to_string(all % frame) + " bytes remain after the last whole frame.",
             theme::kWarning);
    return frame > 0 && frame <= all ? source() : "";
}

std::uint64_t OpenDialog::RawForm::pixels() const {
    return bytes - std::min(bytes, static_cast<std::uint64_t>(header));
}

std::string OpenDialog::RawForm::source() const {
    return raw_source(path, size, static_cast<std::uint64_t>(header));
}

std::optional<SourceArgument> OpenDialog::RawForm::chosen(std::string& why) const {
    const std::uint64_t frame = raw_frame_bytes(size);
    if (frame == 0) {
        why = "The file has no header: give the width and the height of a frame.";
    } else if (frame > pixels()) {
        why = "One frame of this size would be " + size_text(frame) + ", and the file holds " +
              size_text(pixels()) + " after its header; give a smaller one.";
    } else {
        return SourceArgument(source());
    }
    return std::nullopt;
}

void OpenDialog::preview(bool three_columns) {
    const auto& looked = look_.result();
    const bool known = looked && looked->text == look_wanted_ && !look_wanted_.empty();
    const bool headerless =
        raw_.needed && !(known && looked->error.empty() && look_wanted_ == "raw:" + raw_.path);
    raw_.shown = headerless && !(look_wanted_ == "raw:" + raw_.path && !known);
    if (raw_.shown)
        if (const std::string text = raw_.draw(); !text.empty())
            look_at(text);
    probe::value("open.raw.form", headerless ? 1.0 : 0.0);
    probe::value("open.look", known && looked->error.empty() ? text_of_look(looked->look) : "");
    if (look_wanted_.empty())
        return hint("Choose a file to see its first frame. You can also drop a file on the window.");
    if (!known)
        return hint("looking …");
    if (!looked->error.empty())
        return hint(looked->error, theme::kWarning);
    if (pictured_ == looked->text) {
        const FirstLook& look = looked->look;
        const float room = ImGui::GetContentRegionAvail().x;
        const float scale =
            std::min(room / static_cast<float>(look.width),
                     theme::dp(three_columns ? 240.0F : 120.0F) / static_cast<float>(look.height));
        const auto id = static_cast<std::intptr_t>(picture_.id());
        ImGui::Image(reinterpret_cast<ImTextureID>(id), // NOLINT(performance-no-int-to-ptr)
                     {static_cast<float>(look.width) * scale, static_cast<float>(look.height) * scale});
        const ImVec2 low = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
        probe::widget("open.picture", low.x, low.y, size.x, size.y);
    }
    const std::string details = details_of_look(looked->look);
    probe::value("open.details", details);
    hint(details, theme::kText);
}

} // namespace specklescope
