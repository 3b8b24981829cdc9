// Command palette (Ctrl P): finds everything the window can do by a few letters of its name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

struct PaletteEntry {
    std::string kind;    ///< "File", "Add a stage", "Preset", "Open recent"
    std::string text;    ///< description in plain words
    std::string name;    ///< second name to search for: "step_back"
    std::string keys;    ///< shown next to the text
    std::string why_not; ///< reason why the command is not possible now; empty: possible
    std::function<void()> run;
    std::string menu{}; ///< its place in the menus: "File/Settings"; empty: none
};

/// Entries that match the typed text, best first. Equal scores keep their order, possible entries first.
std::vector<const PaletteEntry*> fitting(const std::vector<PaletteEntry>& entries, const std::string& typed);

class Palette {
public:
    /// `kind`: only such entries, in their order.
    void open(std::string kind = {}) {
        asked_ = true;
        kind_ = std::move(kind);
    }
    /// True if the palette opens in this frame: further keys belong to its field.
    bool asked() const { return asked_; }
    /// Calls `entries()` in every frame while the palette is open. `confirm`, `dismiss`: Enter and Escape.
    void draw(const std::function<std::vector<PaletteEntry>()>& entries, bool confirm, bool dismiss);

private:
    void list(const std::vector<const PaletteEntry*>& found, const PaletteEntry*& chosen);

    bool asked_ = false;
    std::string kind_; ///< empty: all
    std::string typed_, said_;
    int selected_ = 0;
    bool moved_ = false; ///< a key moved the selection: scroll to it
};

// Scores how well typed letters match a name, for the command palette.

/// Matches if the letters of each word of `typed` occur in `text` in this order, in upper or lower case;
/// otherwise returns nullopt. Higher is better. The score of a word is the best sum over all placements of
/// its letters: 1 for each letter, 4 more at the start of a word of the text, 3 more directly after the
/// previous letter, 1 less for each skipped letter within a word.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view text);

// Entries of the command palette besides the actions: stages, presets, sources.

class Session;

/// Adds every stage that can be added, and the edits of the stages in the chain.
void add_chain_entries(Session& session, std::vector<PaletteEntry>& entries);
void add_preset_entries(Session& session, std::vector<PaletteEntry>& entries);
/// Adds recent sources and simulated scenes.
void add_source_entries(Session& session, std::vector<PaletteEntry>& entries);

} // namespace specklescope
