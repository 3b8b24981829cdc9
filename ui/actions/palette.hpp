// Everything that the window can do, found by a few letters of its name: Ctrl P.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct PaletteEntry {
    std::string kind;    ///< "File", "Add a stage", "Preset", "Open recent"
    std::string text;    ///< what it does, in plain words
    std::string name;    ///< found by this as well: "step_back"
    std::string keys;    ///< shown beside it
    std::string why_not; ///< the reason why it is not possible now; empty: it is
    std::function<void()> run;
    std::string menu{}; ///< its place in the menus: "File/Settings"; empty: none
};

/// Those that fit what is typed, the best one first; of equals in their order, possible ones first.
std::vector<const PaletteEntry*> fitting(const std::vector<PaletteEntry>& entries, const std::string& typed);

class Palette {
public:
    void open() { asked_ = true; }
    /// In this frame: what is typed next is for its field.
    bool asked() const { return asked_; }
    /// While it is open, `entries()` is asked in every frame. `confirm`, `dismiss`: Enter and Escape.
    void draw(const std::function<std::vector<PaletteEntry>()>& entries, bool confirm, bool dismiss);

private:
    void list(const std::vector<const PaletteEntry*>& found, const PaletteEntry*& chosen);

    bool asked_ = false;
    std::string typed_, said_;
    int selected_ = 0;
    bool moved_ = false; ///< the selection, by a key: it is to be seen
};

// How well typed letters fit a name: for the command palette.

/// The words of `typed` each fit `text` if their letters come in it in this order, in upper or lower case;
/// nothing if one does not. Higher is better. Of one word over all ways to find its letters, the best sum of:
/// 1 for each, 4 more at the beginning of a word of the text, 3 more right behind the letter before, and 1
/// less for each letter left out within a word's way.
std::optional<int> fuzzy_score(std::string_view typed, std::string_view text);

// What the command palette offers beside the actions: stages, presets, sources.

class Session;

/// Every stage to be added, and what can be done with those of the chain.
void add_chain_entries(Session& session, std::vector<PaletteEntry>& entries);
void add_preset_entries(Session& session, std::vector<PaletteEntry>& entries);
/// What was open lately, and what is simulated.
void add_source_entries(Session& session, std::vector<PaletteEntry>& entries);

} // namespace specklescope
