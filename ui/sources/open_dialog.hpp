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

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace specklescope {

class OpenDialog {
public:
    /// Call in every frame; opens if state.open_dialog is set.
    void draw(Session& session, ViewState& state);

private:
    struct Looked { ///< preview of a source
        std::string text, error;
        FirstLook look;
    };
    using Cameras = std::vector<std::pair<std::string, std::string>>;

    void begin(Session& session, ViewState& state);
    void poll(Session& session, ViewState& state);
    void field(ViewState& state);
    struct Row;
    bool row(const Row& row);
    void sources(const Session& session, ViewState& state);
    void files(ViewState& state);
    void preview(bool beside);
    void raw_form();
    void show_folder(const std::string& path, const std::string& part);
    void choose_rows(const TypedPath& typed);
    void take_text(const std::string& text);
    void look_at(const std::string& text);
    std::optional<std::string> first_match() const;
    void open(const SourceArgument& source, Session& session, const ViewState& state) const;
    void open_chosen(Session& session, ViewState& state);
    /// Source that the Open button opens; otherwise nullopt, with the reason displayed.
    std::optional<SourceArgument> chosen(Session& session, const ViewState& state);
    /// The same for the form.
    std::optional<SourceArgument> raw_chosen();
    std::uint64_t raw_pixels() const;

    std::string started_; ///< the text when the dialog was opened, or when it was last parsed
    std::string said_;
    bool compares_ = false; ///< ViewState::open_compares
    bool opens_ = false;    ///< a row was double-clicked
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

    bool raw_ = false;      ///< the file has no header
    bool raw_form_ = false; ///< the form for its size is shown
    std::string raw_path_;
    std::uint64_t raw_bytes_ = 0;
    RawSize raw_size_;
    int raw_header_ = 0;
    std::vector<RawSize> raw_sizes_;
};

// Recent sources with their current state, and the simulated scenes.

struct RecentSource {
    SourceArgument source;
    std::string note; ///< next to the name: "simulated"
};
std::vector<RecentSource> recent_sources(const Session& session);

} // namespace specklescope
