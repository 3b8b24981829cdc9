// Right side of the dialog that opens a source: the first frame, and the form for a file without a header.
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/sources/open_dialog.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using theme::dp;

} // namespace

void OpenDialog::raw_form() {
    hint("No header: enter the size of a frame. " + size_text(raw_bytes_) +
         (raw_sizes_.empty() ? " fit no usual size in whole frames." : " could be:"));
    const auto label = [](const RawSize& size) {
        return std::to_string(size.width) + " × " + std::to_string(size.height) + " " + size.format + ", " +
               count_text(size.frames) + (size.frames == 1 ? " frame" : " frames");
    };
    ImGui::SetNextItemWidth(-1);
    if (ImGui::BeginCombo("##sizes", raw_size_.frames > 0 ? label(raw_size_).c_str() : "another size")) {
        close_on_escape();
        for (const RawSize& size : raw_sizes_)
            if (ImGui::Selectable(label(size).c_str()))
                raw_size_ = size;
        ImGui::EndCombo();
    }
    probe::item("open.raw.sizes");
    tooltip("Sizes that fit the length of the file.");
    probe::value("open.raw.sizes", static_cast<double>(raw_sizes_.size()));
    const auto number = [&](const char* name, int& value) {
        control_label(name);
        ImGui::InputInt((std::string("##") + name).c_str(), &value, 1, 16);
        value = std::clamp(value, 0, 1 << 30);
        probe::item(std::string("open.raw.") + name);
        tooltip(std::string(name) + " of a frame in pixels.");
    };
    number("Width", raw_size_.width);
    number("Height", raw_size_.height);
    control_label("Format");
    if (ImGui::BeginCombo("##format", raw_size_.format.c_str())) {
        close_on_escape();
        for (const std::string& format : raw_formats()) {
            if (ImGui::Selectable(format.c_str(), format == raw_size_.format))
                raw_size_.format = format;
            probe::item("open.raw.format." + format);
            tooltip("format=" + format);
        }
        ImGui::EndCombo();
    }
    probe::item("open.raw.Format");
    tooltip("Pixel format of the frames. specklescope help raw explains each.");
    const int before = raw_header_;
    number("Header", raw_header_);
    if (raw_header_ != before)
        raw_sizes_ = raw_sizes(raw_bytes_, static_cast<std::uint64_t>(raw_header_), raw_path_);
    const std::uint64_t frame = raw_frame_bytes(raw_size_), pixels = raw_pixels();
    raw_size_.frames = frame > 0 && pixels % frame == 0 ? pixels / frame : 0;
    if (frame > 0 && raw_size_.frames == 0)
        hint(pixels < frame ? "The file is shorter than one such frame."
                            : std::to_string(pixels % frame) + " bytes remain after the last whole frame.",
             theme::kWarning);
    if (frame > 0 && frame <= pixels)
        look_at(raw_source(raw_path_, raw_size_, static_cast<std::uint64_t>(raw_header_)));
}

/// Number of bytes after the header.
std::uint64_t OpenDialog::raw_pixels() const {
    return raw_bytes_ - std::min(raw_bytes_, static_cast<std::uint64_t>(raw_header_));
}

std::optional<SourceArgument> OpenDialog::raw_chosen() {
    const std::uint64_t frame = raw_frame_bytes(raw_size_);
    if (frame == 0) {
        said_ = "The file has no header: give the width and the height of a frame.";
    } else if (frame > raw_pixels()) {
        said_ = "One frame of this size would be " + size_text(frame) + ", and the file holds " +
                size_text(raw_pixels()) + " after its header; give a smaller one.";
    } else {
        return SourceArgument(raw_source(raw_path_, raw_size_, static_cast<std::uint64_t>(raw_header_)));
    }
    return std::nullopt;
}

void OpenDialog::preview(bool beside) {
    const auto& looked = look_.result();
    const bool known = looked && looked->text == look_wanted_ && !look_wanted_.empty();
    const bool headerless = raw_ && !(known && looked->error.empty() && look_wanted_ == "raw:" + raw_path_);
    raw_form_ = headerless && !(look_wanted_ == "raw:" + raw_path_ && !known);
    if (raw_form_)
        raw_form();
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
        const float scale = std::min(room / static_cast<float>(look.width),
                                     dp(beside ? 240.0F : 120.0F) / static_cast<float>(look.height));
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
