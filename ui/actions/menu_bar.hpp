// The menus in the tool bar (File, Edit, View …), or one button for all of them in a narrow window. Their
// entries are the commands of the palette that have a place in a menu.
#pragma once

#include "ui/actions/palette.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

class MenuBar {
public:
    /// Opens the first menu with the next drawing.
    void open() { asked_ = true; }
    void close() { closes_ = true; }
    /// A menu was open in the last drawing: keys are for it.
    bool is_open() const { return open_; }
    /// The buttons, from the present position of the window that is drawn. `one`: a single button for all
    /// menus. While a menu is open, `entries()` is called in every frame.
    void draw(bool one, const std::function<std::vector<PaletteEntry>()>& entries);

private:
    using Entries = std::vector<PaletteEntry>;
    void button(std::string_view menu, std::size_t index);
    bool popup(std::string_view menu, const std::function<Entries()>& entries);
    void fill(std::string_view menu, const Entries& entries);
    void submenu(const std::string& path, const Entries& entries);
    void entry(const PaletteEntry& entry);

    bool asked_ = false, closes_ = false, open_ = false;
    bool moved_ = false;                ///< Left or Right chose the menu that is open
    std::function<void()> chosen_;      ///< run after the popup has ended
    std::vector<std::string_view> bar_; ///< buttons that are drawn; "": all menus
    int wanted_ = -1;                   ///< the menu to open with this drawing
};

} // namespace specklescope
