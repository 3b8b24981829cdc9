#include "ui/panels/panel.hpp"

#include "base/error.hpp"
#include "config/numbers.hpp"
#include "recording/limits/record_limits.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {

using theme::dp;

const char* about_record(RecordWhat what) {
    return what == RecordWhat::raw ? "Record the frames of the source, unprocessed"
           : what == RecordWhat::processed
               ? "Record the result as numbers (TIFF, raw) or in colour (MKV, MP4)"
               : "Record what the image area shows, as a movie";
}

Action key_of_record(RecordWhat what) {
    return what == RecordWhat::raw         ? Action::record_raw
           : what == RecordWhat::processed ? Action::record
                                           : Action::record_screen;
}

/// Draws one button with its format, and the active recording below it.
void record_row(Session& session, RecordWhat what, const char* label, int& format) {
    const std::vector<std::string>& endings = Recordings::endings(what);
    ImGui::PushID(label);
    const Recording* recording = session.recordings.running(what);
    const float choice = dp(74);
    const float width = ImGui::GetContentRegionAvail().x - choice - ImGui::GetStyle().ItemSpacing.x;
    if (recording)
        ImGui::PushStyleColor(ImGuiCol_Button, theme::vec(theme::kRecordField));
    const std::string text =
        recording ? "Stop  " + progress_text(*recording, true) : std::string("Record ") + label;
    const std::string fits = fitted(*ImGui::GetFont(), text, width - dp(16));
    if (ImGui::Button((fits + "###record").c_str(), {width, 0}))
        session.recordings.toggle(output_kind(what));
    probe::item(std::string("record.") + label);
    probe::value(std::string("record.") + label + ".text", text);
    tooltip(with_key(recording ? "Stop this recording.\n" + progress_text(*recording, true)
                               : std::string(about_record(what)),
                     session.settings().keys, key_of_record(what)));
    if (recording)
        ImGui::PopStyleColor();
    ImGui::SameLine();
    ImGui::SetNextItemWidth(choice);
    const bool open = ImGui::BeginCombo("##format", endings[static_cast<std::size_t>(format)].c_str());
    probe::item(std::string("record.format.") + label);
    if (!open)
        tooltip("Format of the next recording. The list explains each.");
    if (open) {
        close_on_escape();
        for (int i = 0; i < static_cast<int>(endings.size()); ++i) {
            if (ImGui::Selectable(endings[static_cast<std::size_t>(i)].c_str(), i == format))
                format = i;
            for (const RecordFormat& row : record_formats())
                if (row.ending == endings[static_cast<std::size_t>(i)])
                    tooltip(std::string(what == RecordWhat::raw ? row.raw : row.processed));
        }
        ImGui::EndCombo();
    }
    ImGui::PopID();
}

/// "keeps the last 3.0 s, 120 MiB": the frames buffered before a raw recording starts.
void kept_line(const Session& session) {
    const std::optional<PreTrigger::Fill> kept = session.recordings.kept();
    if (!kept)
        return;
    char text[96];
    std::snprintf(text, sizeof text, "keeps the last %.1f s, %.0f MiB", kept->seconds,
                  static_cast<double>(kept->bytes) / (1 << 20));
    const std::string shown = kept->lent      ? "earlier frames are in the recording"
                              : kept->limited ? std::string(text) + ": its memory is full"
                                              : std::string(text);
    hint(shown, kept->limited ? theme::kWarning : theme::kDim);
    tooltip("Raw frames from before the button, at the start of a raw recording. Set their duration and "
            "memory under Length and files.");
    probe::value("record.kept", shown);
}

/// Draws the line of a program parameter.
void program_control(Session& session, const std::string& name) {
    Params& program = session.settings().program;
    const ParamDecl& decl = program.table().at(name);
    if (const auto value =
            param_control("record", decl, program.get(name), Params(program.table()).get(name)))
        program.set(name, *value);
}

constexpr ImGuiTreeNodeFlags kNotIndented = ImGuiTreeNodeFlags_NoTreePushOnOpen; ///< labels keep their column

/// These settings apply to screen movies that begin later.
void screen_controls(Session& session) {
    const bool open = ImGui::TreeNodeEx("On movies of the screen", kNotIndented);
    probe::item("record.marks");
    tooltip("Marks that are drawn into movies of the screen.");
    if (!open)
        return;
    for (const ParamDecl& decl : screen_marks_table().decls())
        program_control(session, decl.name);
    try {
        check_marks(session.settings().program.as<ProgramSettings>().marks, "Recording");
    } catch (const UsageError& error) {
        hint(error.what(), theme::kWarning);
    }
}

/// These settings apply to recordings that begin later.
void limits_controls(Session& session) {
    const Params& program = session.settings().program;
    const Params initial(program.table());
    const auto control = [&](const ParamDecl& declared) { program_control(session, declared.name); };
    const std::vector<ParamDecl>& all = record_limits_table().decls();
    for (const ParamDecl& decl : all) // subject and experimenter first: they change between recordings
        if (is_text(decl.kind))
            control(decl);
    const bool changed = std::any_of(all.begin(), all.end(), [&](const ParamDecl& decl) {
        return !is_text(decl.kind) && program.get(decl.name) != initial.get(decl.name);
    });
    ImGui::SetNextItemOpen(changed, ImGuiCond_Once);
    const bool open = ImGui::TreeNodeEx("Length and files", kNotIndented);
    probe::item("record.limits");
    tooltip("When a recording ends, how files are split and named, and frames from before the button.");
    if (!open)
        return;
    for (const ParamDecl& decl : all)
        if (!is_text(decl.kind))
            control(decl);
    try {
        check_limits(program.as<ProgramSettings>().recording, "Recording");
    } catch (const UsageError& error) {
        hint(error.what(), theme::kWarning);
    }
}

} // namespace

void draw_record(Session& session, ViewState& state) {
    if (!section("Record", false))
        return;
    control_label("Folder");
    const float button = ImGui::GetFrameHeight() * 1.15F;
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button - dp(4));
    ImGui::InputText("##folder", &session.recordings.folder);
    probe::item("record.folder");
    tooltip("Where recordings and snapshots go.");
    ImGui::SameLine(0, dp(4));
    if (ImGui::Button("…##folder", {button, 0}))
        state.folder.ask(session.recordings.folder);
    probe::item("record.browse");
    tooltip("Choose the folder from a list");
    record_row(session, RecordWhat::processed, "processed", session.recordings.processed_format);
    record_row(session, RecordWhat::raw, "raw", session.recordings.raw_format);
    kept_line(session);
    record_row(session, RecordWhat::screen, "screen", session.recordings.screen_format);
    const bool traces = session.recordings.running(output_kind("traces")) != nullptr;
    if (traces)
        ImGui::PushStyleColor(ImGuiCol_Button, theme::vec(theme::kRecordField));
    ImGui::BeginDisabled(!traces && !session.traces_wanted());
    if (ImGui::Button(traces ? "Stop traces" : "Record traces", {ImGui::GetContentRegionAvail().x, 0}))
        session.recordings.toggle(output_kind("traces"));
    ImGui::EndDisabled();
    probe::item("record.traces");
    tooltip("A table (.csv) with a row for each region and every frame.");
    if (traces)
        ImGui::PopStyleColor();
    const float half = (ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x) / 2;
    if (ImGui::Button("Snapshot", {half, 0}))
        state.snapshot = true;
    probe::item("snapshot");
    tooltip(with_key("Save the image that is shown as PNG", session.settings().keys, Action::snapshot));
    ImGui::SameLine();
    if (ImGui::Button("Report", {half, 0}))
        state.report.ask = true;
    probe::item("report");
    tooltip(with_key("PDF with image, regions, traces, events, settings and methods; also the image as PNG "
                     "and the table as CSV",
                     session.settings().keys, Action::report));
    for (const Recording& recording : session.recordings.running()) {
        const SinkStatus status = recording.sink->status();
        hint((status.path.empty() ? "waiting for the first frame" : status.path) + " · " +
                 size_text(status.bytes) +
                 (std::isnan(status.disk_left_s) ? "" : " · " + room_text(status.disk_left_s)) +
                 (status.left_out ? " · " + count_text(status.left_out) + " left out" : "") +
                 (status.dropped ? " · " + count_text(status.dropped) + " dropped" : ""),
             status.dropped ? theme::kWarning : theme::kDim);
    }
    screen_controls(session);
    limits_controls(session);
}

} // namespace specklescope
