// The dialog that opens a source: what was open lately, cameras, folders with a look at the first frame, and
// a form for files without a header. Whatever may wait for a disk, a camera or the desktop runs beside.
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
    /// Every frame; opens where state.open_dialog asks for it.
    void draw(Session& session, ViewState& state);

private:
    struct Looked { ///< at a source
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
    /// What Open opens; nothing where there is a reason against it, which is shown.
    std::optional<SourceArgument> chosen(Session& session, const ViewState& state);
    /// The same of the form.
    std::optional<SourceArgument> raw_chosen();
    std::uint64_t raw_pixels() const;

    std::string started_; ///< the text when the dialog was opened, or that was last taken apart
    std::string said_;
    bool opens_ = false; ///< a row was clicked twice
    bool all_files_ = false;
    Later<Folder> folder_;
    std::string folder_wanted_, part_wanted_;
    std::vector<std::size_t> rows_; ///< of the folder's entries: those that are listed
    Later<Looked> look_;
    std::string look_wanted_;
    gl::Texture picture_;
    std::string pictured_; ///< what the texture shows
    Thumbnails thumbnails_;
    Later<Cameras> cameras_;
    Later<std::set<std::string>> missing_; ///< of the recent ones
    SystemDialog system_;
    std::string program_; ///< of the desktop's dialog; empty: there is none
    bool inner_ = false;  ///< a list of this dialog's was open in the frame before

    bool raw_ = false;      ///< the file is one without a header
    bool raw_form_ = false; ///< its size is asked for
    std::string raw_path_;
    std::uint64_t raw_bytes_ = 0;
    RawSize raw_size_;
    int raw_header_ = 0;
    std::vector<RawSize> raw_sizes_;
};

// What was open lately, with what is known of it now, and the simulated scenes.

struct RecentSource {
    SourceArgument source;
    std::string note; ///< beside it: "simulated"
};
std::vector<RecentSource> recent_sources(const Session& session);

} // namespace specklescope
