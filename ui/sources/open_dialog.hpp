// Dialog that opens a source: recent sources, cameras, folders with a preview of the first frame, and a form
// for files without a header. Work that may wait for a disk, a camera or the desktop runs in the background.
#pragma once

#include "config/look/first_look.hpp"
#include "config/look/raw_sizes.hpp"
#include "session/session.hpp"
#include "ui/canvas/gl.hpp"
#include "ui/panels/panel.hpp"
#include "ui/sources/folder.hpp"
#include "ui/sources/folder_dialog.hpp"
#include "ui/sources/later.hpp"
#include "ui/sources/thumbnails.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace specklescope {

class OpenDialog {
public:
    /// Call in every frame; opens if state.open_dialog is set.
    void draw(Session& session, ViewState& state);
    /// Opens in this frame as a dialog that passes the chosen source to `take` instead of opening it.
    void choose(std::string title, std::function<void(const SourceArgument&)> take);

private:
    struct Looked { ///< preview of a source
        std::string text, error;
        FirstLook look;
    };
    using Cameras = std::vector<std::pair<std::string, std::string>>;

    /// Form for a file without a header.
    struct RawForm {
        void begin(const std::string& file, std::uint64_t length);
        std::string draw(); ///< returns the source to preview; empty: none
        /// The source; otherwise nullopt, with the reason in `why`.
        std::optional<SourceArgument> chosen(std::string& why) const;
        std::uint64_t pixels() const; ///< number of bytes after the header
        std::string source() const;

        bool needed = false; ///< the file has no header
        bool shown = false;
        std::string path;
        std::uint64_t bytes = 0;
        RawSize size;
        int header = 0;
        std::vector<RawSize> sizes; ///< that fit
    };

    void begin(Session& session);
    void poll(Session& session);
    void field();
    struct Row;
    bool row(const Row& row);
    void sources(const Session& session);
    void files();
    void preview(bool three_columns);
    void show_folder(const std::string& path, const std::string& part);
    void choose_rows(const TypedPath& typed);
    void take_text(const std::string& text);
    void look_at(const std::string& text);
    std::optional<std::string> first_match() const;
    void open(const SourceArgument& source, Session& session) const;
    void open_chosen(Session& session);
    /// Source that the Open button opens; otherwise nullopt, with the reason displayed.
    std::optional<SourceArgument> chosen(Session& session);

    std::string text_;    ///< typed
    std::string started_; ///< the text when the dialog was opened, or when it was last parsed
    std::string said_;
    bool compares_ = false;                           ///< ViewState::open_compares
    bool asked_ = false;                              ///< by choose(), in this frame
    std::string title_;                               ///< of choose()
    std::function<void(const SourceArgument&)> take_; ///< null: opens the source
    bool recorded_ = true;                            ///< opens a recording with its settings
    bool opens_ = false;                              ///< a row was double-clicked
    bool all_files_ = false;
    Later<Folder> folder_;
    std::string folder_wanted_, part_wanted_;
    std::vector<std::size_t> rows_; ///< indices of the listed folder entries
    bool matches_ = false;          ///< the rows are those with the typed part in their name
    Later<Looked> look_;
    std::string look_wanted_;
    gl::Texture picture_;
    std::string pictured_; ///< source in the texture
    Thumbnails thumbnails_;
    Later<Cameras> cameras_;
    Later<std::set<std::string>> missing_; ///< missing files among the recent sources
    SystemDialog system_;
    std::string program_; ///< desktop dialog; empty: none
    bool inner_ = false;  ///< a list of this dialog was open in the previous frame
    RawForm raw_;
};

// Recent sources with their current state, and the simulated scenes.

struct RecentSource {
    SourceArgument source;
    std::string note; ///< next to the name: "simulated"
};
std::vector<RecentSource> recent_sources(const Session& session);

} // namespace specklescope
