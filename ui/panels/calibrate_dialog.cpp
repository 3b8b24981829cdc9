#include "ui/panels/calibrate_dialog.hpp"

#include "base/error.hpp"
#include "base/round_pupil.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/small_plot.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char* kCalibrateTitle = "Calibrate camera";

enum List : std::size_t { kLit, kDark, kStill };
struct ListText {
    const char *id, *title, *help;
    bool several;
};
constexpr std::array<ListText, 3> kTexts = {
    {{"lit", "Even light", "An evenly lit surface, at two levels of light or more", true},
     {"dark", "No light", "With the lens covered, for read noise and black level", false},
     {"static", "Still scatterer", "Paper under the laser, fixed, for β and the speckle size", false}}};

/// Name of a camera as the name of a file.
std::string file_name(const std::string& camera) {
    std::string name;
    for (const char letter : camera)
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_')
            name += letter;
        else if (!name.empty() && name.back() != '-')
            name += '-';
    while (name.ends_with('-'))
        name.pop_back();
    return name;
}

SmallPlot noise_plot(const PhotonTransfer& noise) {
    SmallPlot plot{"calibrate.noise", "mean, DN", "variance, DN²", {}, {}};
    for (const PhotonTransfer::Level& level : noise.levels)
        plot.points.emplace_back(level.mean, level.variance);
    const double from = std::max(0.0, -noise.at_zero / noise.gain), to = noise.levels.back().mean * 1.04;
    plot.curve = {{from, noise.at_zero + noise.gain * from}, {to, noise.at_zero + noise.gain * to}};
    return plot;
}

SmallPlot speckle_plot(const StaticScatterer& found) {
    SmallPlot plot{"calibrate.speckle", "distance, px", "autocovariance", {}, {}};
    const double most = std::min(static_cast<double>(found.autocovariance.size()) - 1,
                                 std::max(4.0, std::ceil(2.5 * found.speckle_size)));
    for (std::size_t lag = 0; static_cast<double>(lag) <= most; ++lag)
        plot.points.emplace_back(static_cast<double>(lag), found.autocovariance[lag]);
    constexpr int kSteps = 100;
    for (int i = 0; i <= kSteps; ++i) {
        const double r = most * i / kSteps;
        plot.curve.emplace_back(r, round_pupil_covariance(r, found.speckle_size));
    }
    return plot;
}

} // namespace

void CalibrateDialog::begin(const Session& session) {
    said_.clear();
    const Pipeline* pipeline = session.pipeline();
    const SourceInfo source = pipeline ? pipeline->status().source : SourceInfo();
    if (source.live)
        camera_ = source.name;
    if (source.live || name_.empty())
        name_ = source.live ? file_name(source.name) : "camera";
}

void CalibrateDialog::add(std::size_t which, const SourceArgument& source) {
    if (!kTexts[which].several)
        files_[which].clear();
    if (std::find(files_[which].begin(), files_[which].end(), source) == files_[which].end())
        files_[which].push_back(source);
    work_.clear(); // of other recordings
    said_.clear();
}

void CalibrateDialog::add_file(std::size_t which, const std::string& path) {
    try {
        add(which, file_source(path));
    } catch (const UsageError& error) {
        said_ = error.what();
        failed_ = true;
    }
}

void CalibrateDialog::list(std::size_t which) {
    const ListText& text = kTexts[which];
    std::vector<SourceArgument>& files = files_[which];
    const float top = ImGui::GetCursorScreenPos().y;
    ImGui::PushID(text.id);
    ImGui::PushFont(theme::fonts().bold);
    ImGui::TextUnformatted(text.title);
    ImGui::PopFont();
    hint(text.help);
    for (std::size_t i = 0; i < files.size(); ++i) {
        ImGui::PushID(static_cast<int>(i));
        const bool removed = ImGui::SmallButton("×");
        probe::item(std::string("calibrate.") + text.id + "." + std::to_string(i));
        tooltip("Remove this recording from the list.");
        ImGui::SameLine();
        const std::string name = files[i].shown();
        ImGui::TextUnformatted(
            label_text(fitted_name(*ImGui::GetFont(), std::filesystem::path(name).filename().string(),
                                   ImGui::GetContentRegionAvail().x))
                .c_str());
        tooltip(name);
        ImGui::PopID();
        if (removed) {
            files.erase(files.begin() + static_cast<std::ptrdiff_t>(i));
            work_.clear();
            break;
        }
    }
    if (ImGui::Button(text.several || files.empty() ? "Add …" : "Replace …"))
        open_->choose(std::string("Add a recording: ") + text.title,
                      [this, which](const SourceArgument& source) { add(which, source); });
    probe::item(std::string("calibrate.add.") + text.id);
    tooltip("Choose a recording of raw frames, 16 or more. You can also drop a file here.");
    const ImVec2 end = ImGui::GetCursorScreenPos();
    if (ImGui::IsMouseHoveringRect({end.x, top}, {end.x + ImGui::GetContentRegionAvail().x, end.y}))
        if (const std::optional<std::string> dropped = take_drop())
            add_file(which, *dropped);
    ImGui::Dummy({0, dp(4)});
    ImGui::PopID();
}

void CalibrateDialog::inputs() {
    const auto field = [](const char* label, const char* id, std::string& text, const char* empty,
                          const char* help) {
        control_label(label);
        (void)ImGui::InputTextWithHint((std::string("##") + id).c_str(), empty, &text,
                                       ImGuiInputTextFlags_AutoSelectAll);
        probe::item(std::string("calibrate.") + id);
        tooltip(help);
    };
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
    field("Profile", "name", name_, "name", "Name of the profile, or a file that ends in .toml.");
    field("Camera", "camera", camera_, "any",
          "Name of the camera as the window's title shows it. The profile is used whenever it is opened.");
    ImGui::Dummy({0, dp(4)});
    for (std::size_t which = 0; which < kLists; ++which)
        list(which);
}

void CalibrateDialog::results() const {
    if (!said_.empty())
        hint(said_, failed_ ? theme::kWarning : theme::kGood);
    const auto& result = work_.result();
    if (!result)
        return hint(work_.busy() ? "Reading frames …"
                                 : "Record raw frames (16 or more each, same exposure and gain), add the "
                                   "recordings, and measure. Gain and noise need even light; β needs a still "
                                   "scatterer.");
    if (!result->error.empty())
        return hint(result->error, theme::kWarning);
    const MeasuredCamera& found = result->found;
    const float width = ImGui::GetContentRegionAvail().x, gap = dp(8);
    const float each = found.noise && found.still ? (width - gap) / 2 : width;
    const ImVec2 size(each, std::min(dp(200), each * 0.75F));
    if (found.noise)
        draw_small_plot(noise_plot(*found.noise), size);
    if (found.noise && found.still)
        ImGui::SameLine(0, gap);
    if (found.still)
        draw_small_plot(speckle_plot(*found.still), size);
    for (const auto& [name, value] : calibration_rows(found)) {
        ImGui::TextColored(theme::vec(theme::kDim), "%s", name.c_str());
        ImGui::SameLine(dp(96));
        const bool warns = value.find("Warning") != std::string::npos;
        ImGui::PushStyleColor(ImGuiCol_Text, warns ? theme::kWarning : theme::kText);
        ImGui::TextUnformatted(wrapped(*ImGui::GetFont(), value, ImGui::GetContentRegionAvail().x).c_str());
        ImGui::PopStyleColor();
    }
}

void CalibrateDialog::measure() {
    said_.clear();
    CalibrateSettings settings;
    settings.lit = files_[kLit];
    settings.dark = files_[kDark].empty() ? SourceArgument() : files_[kDark].front();
    settings.still = files_[kStill].empty() ? SourceArgument() : files_[kStill].front();
    settings.camera = camera_;
    work_.clear();
    work_.ask([settings]() -> Measured {
        try {
            return {measure_camera(settings), ""};
        } catch (const std::exception& error) {
            return {{}, sentence_of(error)};
        }
    });
}

void CalibrateDialog::save() {
    try {
        MeasuredCamera found = work_.result()->found;
        if (!camera_.empty())
            found.profile.camera = camera_;
        const std::string& camera = found.profile.camera;
        said_ = "Saved as " + save_calibration(found, name_) + ". " +
                (camera.empty() ? "Use it by --camera-profile, or enter the camera's name and save again."
                                : "It is used when " + camera + " is opened again.");
        failed_ = false;
    } catch (const std::exception& error) {
        said_ = sentence_of(error);
        failed_ = true;
    }
}

void CalibrateDialog::buttons(bool confirm) {
    const bool ready = !files_[kLit].empty() || !files_[kStill].empty();
    if (work_.busy()) {
        if (ImGui::Button("Cancel", {dp(110), 0}))
            work_.clear();
        probe::item("calibrate.cancel");
        ImGui::SameLine();
        ImGui::ProgressBar(static_cast<float>(work_.part()), {dp(220), 0});
        return;
    }
    ImGui::BeginDisabled(!ready);
    if (ImGui::Button("Measure", {dp(110), 0}) || (confirm && ready && !work_.result()))
        measure();
    ImGui::EndDisabled();
    probe::item("calibrate.measure");
    tooltip("Read the recordings and measure. Enter does the same.");
    ImGui::SameLine();
    ImGui::BeginDisabled(!measured());
    if (ImGui::Button("Save profile", {dp(110), 0}) || (confirm && measured() && said_.empty()))
        save();
    ImGui::EndDisabled();
    probe::item("calibrate.save");
    tooltip(
        "Keep the measured values, the dark frame and the flat field. A profile of this name is replaced. "
        "Enter does the same.");
}

void CalibrateDialog::draw(Session& session, ViewState& state) {
    work_.poll();
    if (std::exchange(ask, false)) {
        if (!open_)
            open_ = std::make_unique<OpenDialog>();
        begin(session);
        ImGui::OpenPopup(kCalibrateTitle);
        state.confirm = state.dismiss = false; // the key that opened the dialog
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const ImVec2 size(std::min(dp(1000), screen.x * 0.94F), std::min(dp(640), screen.y * 0.92F));
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize(size);
    bool open = true;
    if (!ImGui::BeginPopupModal(kCalibrateTitle, &open,
                                ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
        if (work_.busy())
            work_.clear();
        return;
    }
    // Keys of the dialog that chooses a recording are not keys of this one.
    const bool inner = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
    const bool confirm = state.confirm && !inner, dismiss = state.dismiss && !inner;
    const float below = ImGui::GetFrameHeightWithSpacing();
    ImGui::BeginChild("##inputs", {size.x * 0.36F, -below}, true, ImGuiWindowFlags_NavFlattened);
    inputs();
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("##results", {0, -below}, true, ImGuiWindowFlags_NavFlattened);
    results();
    ImGui::EndChild();
    open_->draw(session, state);
    buttons(confirm);
    ImGui::SameLine();
    const bool close = ImGui::Button("Close", {dp(110), 0});
    probe::item("calibrate.close");
    tooltip("Close this dialog. Escape does the same.");
    probe::value("calibrate.said", said_);
    probe::value("calibrate.error", work_.result() ? work_.result()->error : "");
    probe::value("calibrate.gain", measured() ? work_.result()->found.profile.gain : NAN);
    probe::value("calibrate.beta", measured() ? work_.result()->found.profile.beta : NAN);
    if (close || !open || dismiss)
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

} // namespace specklescope
