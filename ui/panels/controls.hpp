// Widgets for parameters: one function draws any declared parameter.
#pragma once

#include "pipeline/param.hpp"
#include "ui/canvas/theme.hpp"

#include <functional>
#include <optional>
#include <string>

namespace specklescope {

/// Slider with value and unit, logarithmic on request; a double click allows typing. True while the value
/// changes. `name` for the probe.
struct SliderRange {
    double min = 0, max = 1;
    bool logarithmic = false;
    bool integer = false;
};
bool value_slider(const std::string& id, double& value, const SliderRange& range, const std::string& unit);

/// Field for a number without a useful range: type it, or drag.
bool value_field(const std::string& id, double& value, const SliderRange& range, const std::string& unit);

/// Draws one labelled line for one parameter. Returns the new value if the user changed it. Tooltip, reset
/// (right click) and range come from the declaration.
std::optional<ParamValue> param_control(const std::string& owner, const ParamDecl& decl,
                                        const ParamValue& current, const ParamValue& initial);

/// Draws all visible parameters of a set, in the order of their declaration. Calls `edit` at most once per
/// parameter and frame. `after` may add a line below a control (for example the origin of the value).
using EditFunction = std::function<void(const std::string& name, const ParamValue& value)>;
void param_controls(const std::string& owner, const Params& params, const EditFunction& edit,
                    const std::function<void(const ParamDecl&)>& after = {});

/// Offers a file dropped on the window: to the text field under the mouse, otherwise to the last caller that
/// takes it.
void offer_drop(std::string path);
std::optional<std::string> take_drop();

/// Draws the label in the left column; the next item fills the right column. In a narrow panel the label is
/// above the item.
void control_label(const char* label);
/// True while a panel is drawn that is too narrow for two columns.
bool is_narrow();
void tooltip(const std::string& text);
/// Tooltip of a part of the window that is drawn and is no item: an axis, a mark.
void area_tooltip(const ImVec2& low, const ImVec2& high, const std::string& text);
/// Places it left or right of the last item, so that it does not cover the item.
void tooltip_beside(const std::string& text, bool left);
/// Places the next tooltip above the last item if it is near the lower edge, so that it does not cover the
/// items in the same row.
void tooltip_above();
/// Text cut to the width, with an ellipsis if it is cut.
std::string fitted(const ImFont& font, std::string text, float width);
/// Name of a file or source cut in the middle, since the end usually distinguishes names.
std::string fitted_name(const ImFont& font, const std::string& text, float width);
/// Text in lines of this width, broken only at blanks. (Dear ImGui also breaks after points and commas, and
/// so within numbers.) It breaks words that are longer than a line.
std::string wrapped(const ImFont& font, const std::string& text, float width);
/// Name as the label of a control: Dear ImGui hides text after "##", which a name may contain.
std::string label_text(std::string name);
/// Call while a list or menu is drawn: Escape closes it. True if it was closed.
bool close_on_escape();
/// Scrolls the window that is being drawn: Up, Down and the page keys.
void scroll_by_keys();
/// Draws a line of small text.
void hint(const std::string& text, ImU32 color = theme::kDim);
/// Push button; `pressed` draws it as switched on.
bool tool_button(const char* label, bool pressed = false, float width = 0);
/// Sets the list of open sections, separated by commas; section() reads and updates it. Null: each section
/// starts as `open_at_first`.
void sections_of(std::string* open);
/// Heading with a triangle; true while open. `with_buttons`: buttons may overlap it; it is not remembered.
bool section(const char* title, bool open_at_first = true, bool with_buttons = false);

} // namespace specklescope
