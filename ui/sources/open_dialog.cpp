#include "ui/sources/open_dialog.hpp"

#include "base/error.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <imgui_stdlib.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr const char *kOpenTitle = "Open a source###open",
                     *kCompareTitle = "Compare with another recording###open";
constexpr int kLookSide = 320;

} // namespace

void OpenDialog::begin(Session& session) {
    if (!take_ || text_.empty()) // the next file is often next to the last one
        text_ = session.settings().source.shown();
    said_.clear();
    raw_.needed = raw_.shown = inner_ = false;
    program_ = SystemDialog::program();
    look_wanted_.clear();
    started_.clear();
    std::string folder = typed_path(text_).folder;
    if (folder.empty()) {
        std::error_code ignored;
        folder = std::filesystem::current_path(ignored).string();
    }
    folder_wanted_.clear();
    show_folder(folder, "");
    cameras_.ask([] {
        try {
            return cameras_now();
        } catch (const std::exception& error) {
            return Cameras{{"", sentence_of(error)}};
        }
    });
    missing_.ask([recent = recent_sources(session)] {
        std::set<std::string> gone;
        for (const RecentSource& one : recent)
            if (is_gone(one.source))
                gone.insert(one.source.revealed());
        return gone;
    });
    thumbnails_.recheck();
    ImGui::OpenPopup(kOpenTitle);
}

void OpenDialog::choose(std::string title, std::function<void(const SourceArgument&)> take) {
    title_ = std::move(title) + "###open";
    take_ = std::move(take);
    asked_ = true;
}

void OpenDialog::show_folder(const std::string& path, const std::string& part) {
    if (path == folder_wanted_ && part == part_wanted_)
        return;
    folder_wanted_ = path;
    part_wanted_ = part;
    folder_.ask([path, part, all = all_files_] { return read_folder(path, all, part); });
}

/// Selects the rows; the typed text is the filter.
void OpenDialog::choose_rows(const TypedPath& typed) {
    rows_.clear();
    const auto& folder = folder_.result();
    if (!folder)
        return;
    const bool words = typed.folder.empty() && !names_kind(started_); // a part of a name
    const std::string& part = words ? started_ : typed.name;
    const bool all = (!words && typed.folder != folder->path) ||
                     std::any_of(folder->entries.begin(), folder->entries.end(),
                                 [&](const FolderEntry& entry) { return !words && entry.name == part; });
    for (std::size_t i = 0; i < folder->entries.size(); ++i)
        if (all || folder->entries[i].name.find(part) != std::string::npos)
            rows_.push_back(i);
    matches_ = !all && !part.empty();
}

void OpenDialog::look_at(const std::string& text) {
    if (text == look_wanted_)
        return;
    look_wanted_ = text;
    look_.ask([text]() -> Looked {
        try {
            return {text, "", first_look(SourceArgument(text), kLookSide)};
        } catch (const std::exception& error) {
            return {text, sentence_of(error), {}};
        }
    });
}

/// Handles a text changed by typing or by a row: lists its folder, previews its file.
void OpenDialog::take_text(const std::string& text) {
    if (text == started_)
        return;
    started_ = text;
    said_.clear();
    raw_.needed = false;
    const TypedPath typed = typed_path(text);
    choose_rows(typed);
    if (typed.folder.empty())
        return look_wanted_.clear();
    const auto& folder = folder_.result();
    if (!folder || folder->path != typed.folder)
        show_folder(typed.folder, "");
    else if (!answers(*folder, typed.name))
        show_folder(typed.folder, typed.name); // folder with too many entries to list
    if (!folder || folder->path != typed.folder || typed.name.empty())
        return look_wanted_.clear();
    const auto at = std::find_if(folder->entries.begin(), folder->entries.end(),
                                 [&](const FolderEntry& entry) { return entry.name == typed.name; });
    if (at == folder->entries.end() || at->folder)
        return look_wanted_.clear();
    const std::string path = (typed.folder == "/" ? "" : typed.folder) + "/" + typed.name;
    if (at->headerless) {
        raw_.begin(path, at->bytes);
        look_at("raw:" + path); // its .lines file describes it, so it needs no form
    } else {
        look_at(path);
    }
}

void OpenDialog::poll(Session& session) {
    if (folder_.poll())
        started_ = std::string(1, '\0'); // parse the text again: the typed file may be in this listing
    cameras_.poll();
    missing_.poll();
    probe::value("open.thumbnails", static_cast<double>(thumbnails_.made()));
    if (look_.poll() && look_.result()->error.empty() && look_.result()->text == look_wanted_) {
        const FirstLook& look = look_.result()->look;
        if (!picture_)
            picture_ = gl::Texture::make();
        glBindTexture(GL_TEXTURE_2D, picture_.id());
        for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
            glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, look.width, look.height, 0, GL_RGB, GL_UNSIGNED_BYTE,
                     look.rgb.data());
        pictured_ = look_.result()->text;
    }
    if (const std::optional<std::string> answer = system_.poll(); answer && !answer->empty()) {
        text_ = *answer;
        take_text(*answer);
        if (is_headerless(*answer)) // a raw file needs a size
            return;
        try {
            open(file_source(*answer), session);
            ImGui::CloseCurrentPopup();
        } catch (const UsageError& error) {
            said_ = error.what();
        }
    }
}

void OpenDialog::field() {
    const float buttons = dp(86) + (program_.empty() ? 0 : dp(90));
    if (ImGui::IsWindowAppearing())
        ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-buttons - dp(8));
    struct Completion {
        const Folder* folder;
    } completion{folder_.result() ? &*folder_.result() : nullptr};
    ImGui::InputTextWithHint(
        "##source", "file, folder, synthetic:vessels, v4l2:/dev/video0, rtsp://…", &text_,
        ImGuiInputTextFlags_AutoSelectAll | ImGuiInputTextFlags_CallbackCompletion,
        [](ImGuiInputTextCallbackData* data) {
            const Folder* folder = static_cast<Completion*>(data->UserData)->folder;
            const std::string text(data->Buf, static_cast<std::size_t>(data->BufTextLen));
            if (!folder || folder->cut || folder->path != typed_path(text).folder)
                return 0;
            const std::string more = completed(text, *folder).substr(text.size());
            data->InsertChars(data->BufTextLen, more.c_str());
            data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
            return 0;
        },
        &completion);
    probe::item("open.text");
    tooltip("Tab completes a path.");
    ImGui::SameLine();
    if (ImGui::Button("Open", {dp(78), 0}))
        opens_ = true;
    probe::item("open.ok");
    tooltip("Open this source. Enter does the same.");
    if (program_.empty())
        return;
    ImGui::SameLine();
    ImGui::BeginDisabled(system_.running());
    if (ImGui::Button("Browse …", {-1, 0})) {
        try {
            system_.start(folder_wanted_.empty() ? "/" : folder_wanted_);
        } catch (const std::exception& error) {
            said_ = sentence_of(error);
        }
    }
    ImGui::EndDisabled();
    probe::item("open.browse");
    tooltip("The desktop's own dialog (" + program_ + ")");
}

/// Path of the first file whose name contains the typed text; nothing if the text names a source itself.
std::optional<std::string> OpenDialog::first_match() const {
    const auto& folder = folder_.result();
    if (!folder || !matches_)
        return std::nullopt;
    for (const std::size_t row : rows_)
        if (!folder->entries[row].folder)
            return (folder->path == "/" ? "" : folder->path) + "/" + folder->entries[row].name;
    return std::nullopt;
}

std::optional<SourceArgument> OpenDialog::chosen(Session& session) {
    if (raw_.shown) // the preview is only for display
        return raw_.chosen(said_);
    // An unchanged text means the current source, including its secrets.
    if (std::optional<SourceArgument> known = session.known_source(text_))
        return known;
    const bool path = !typed_path(text_).folder.empty();
    try {
        return path ? file_source(text_) : SourceArgument(text_);
    } catch (const UsageError& error) {
        said_ = error.what();
        return std::nullopt;
    }
}

void OpenDialog::open(const SourceArgument& source, Session& session) const {
    if (take_)
        take_(source);
    else if (compares_)
        session.comparison.open_recording(source);
    else
        session.open(source, !recorded_);
}

void OpenDialog::open_chosen(Session& session) {
    if (const std::optional<std::string> match = first_match()) {
        text_ = *match;
        take_text(*match);
        if (is_headerless(*match)) // shows the form for its size first
            return;
    }
    if (const std::optional<SourceArgument> source = chosen(session)) {
        open(*source, session);
        ImGui::CloseCurrentPopup();
    }
}

namespace {

void recorded_box(bool& recorded) {
    ImGui::SameLine(0, dp(16));
    ImGui::Checkbox("Use the settings of a recording", &recorded);
    probe::item("open.recorded");
    tooltip("Chain, colours, range and regions of a recording of this program, as they were when it began; "
            "recorded results are shown as they are. Off: as they are set now.");
}

} // namespace

void OpenDialog::draw(Session& session, ViewState& state) {
    if (std::exchange(state.open_dialog, false)) {
        compares_ = std::exchange(state.open_compares, false);
        begin(session);
        state.confirm = state.dismiss = false; // the key that opened the dialog
    }
    if (std::exchange(asked_, false)) {
        begin(session);
        state.confirm = state.dismiss = false;
    }
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const bool three_columns = screen.x >= dp(760);
    ImGui::SetNextWindowPos(ImGui::GetMainViewport()->GetCenter(), ImGuiCond_Always, {0.5F, 0.5F});
    ImGui::SetNextWindowSize({std::min(dp(940), screen.x * 0.94F), 0});
    bool open = true;
    if (!ImGui::BeginPopupModal(take_       ? title_.c_str()
                                : compares_ ? kCompareTitle
                                            : kOpenTitle,
                                &open, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize)) {
        system_.stop();
        return;
    }
    // Escape that closes a list of this dialog must not close the dialog.
    const bool inner = std::exchange(inner_, false) || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
    poll(session);
    opens_ = false;
    field();
    take_text(text_);
    const float height = three_columns ? std::min(dp(400), screen.y * 0.5F) : screen.y * 0.34F,
                whole = ImGui::GetContentRegionAvail().x;
    const float gap = dp(8);
    const float left = three_columns ? whole * 0.27F : whole * 0.42F;
    const float middle = three_columns ? whole * 0.37F : whole - left - gap;
    ImGui::BeginChild("##sources", {left, height}, true);
    sources(session);
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
    ImGui::BeginChild("##files", {middle, height}, true);
    files();
    ImGui::EndChild();
    thumbnails_.update();
    if (three_columns)
        ImGui::SameLine(0, gap);
    ImGui::BeginChild("##look", {0, three_columns ? height : screen.y * 0.3F}, true);
    preview(three_columns);
    ImGui::EndChild();
    if (ImGui::Checkbox("All files", &all_files_)) {
        const std::string folder = std::exchange(folder_wanted_, "");
        show_folder(folder, part_wanted_);
    }
    probe::item("open.all");
    tooltip("List every file, not only images, videos and raw frames.");
    if (!compares_ && !take_)
        recorded_box(recorded_);
    if (system_.running())
        hint("The desktop's dialog is open; what it chooses is opened here.");
    if (!said_.empty())
        hint(said_, theme::kWarning);
    probe::value("open.said", said_);
    if (state.confirm || opens_)
        open_chosen(session);
    inner_ = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId);
    if (!open || (state.dismiss && !inner))
        ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
}

std::vector<RecentSource> recent_sources(const Session& session) {
    std::vector<RecentSource> sources;
    for (const SourceArgument& recent : session.recent())
        sources.push_back({recent, ""});
    for (const char* scene : {"synthetic:vessels", "synthetic:uniform", "synthetic:static"}) {
        const SourceArgument source(scene);
        if (std::find(session.recent().begin(), session.recent().end(), source) == session.recent().end())
            sources.push_back({source, "simulated"});
    }
    return sources;
}

} // namespace specklescope
