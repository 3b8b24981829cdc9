#include "gst/edited_view.hpp"

#include "gst/declarations.hpp"

#include <string_view>
#include <utility>

namespace specklescope::element {

namespace {

constexpr const char* kAutomatic = "automatic";
constexpr const char* kColormap = "colormap";

ViewHandle new_view(const std::string& text) {
    specklescope_view* made = nullptr;
    check(specklescope_view_create(text.c_str(), &made));
    return ViewHandle(made);
}

} // namespace

void EditedView::set(const std::string& name, const std::string& value) {
    const std::scoped_lock lock(lock_);
    if (const auto known = values_.find(name); known != values_.end() && known->second == value)
        return;
    values_[name] = value;
    if (name == "low" || name == "high")
        values_[kAutomatic] = "false";
    changed_ = true;
}

std::optional<std::string> EditedView::get(const std::string& name) const {
    const std::scoped_lock lock(lock_);
    const auto known = values_.find(name);
    return known == values_.end() ? std::nullopt : std::optional(known->second);
}

bool EditedView::wants_automatic() const {
    if (const auto said = values_.find(kAutomatic); said != values_.end())
        return said->second == "true";
    for (const Declared& declared : declarations())
        if (declared.stage.empty() && declared.info.name == std::string_view(kAutomatic))
            return declared.info.default_value == std::string_view("true");
    return false;
}

std::string EditedView::text(bool grey) const {
    std::string text;
    for (const auto& [name, value] : values_)
        if (!grey || name != kColormap)
            text += (text.empty() ? "" : ",") + name + "=" + value;
    return grey ? text + (text.empty() ? "" : ",") + kColormap + "=grey" : text;
}

void EditedView::start() {
    {
        const std::scoped_lock lock(lock_);
        changed_ = true;
    }
    settle();
}

bool EditedView::settle() {
    const std::scoped_lock lock(lock_);
    if (!std::exchange(changed_, false))
        return false;
    ViewHandle colors = new_view(text(false)), grey = new_view(text(true));
    colors_ = std::move(colors);
    grey_ = std::move(grey);
    automatic_ = wants_automatic();
    return true;
}

} // namespace specklescope::element
