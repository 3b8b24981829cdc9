// Everything that the window can do, found by a few letters of its name: Ctrl P.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace specklescope {

struct PaletteEntry {
    std::string kind;    ///< "Action", "Add a stage", "Preset", "Open"
    std::string text;    ///< what it does, in plain words
    std::string name;    ///< found by this as well: "step_back"
    std::string keys;    ///< shown beside it
    std::string why_not; ///< the reason why it is not possible now; empty: it is
    std::function<void()> run;
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

} // namespace specklescope
