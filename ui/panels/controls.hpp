// Parameters → widgets: one function draws any declared parameter.
#pragma once

#include "pipeline/param.hpp"
#include "ui/canvas/theme.hpp"

#include <functional>
#include <optional>
#include <string>

namespace specklescope {

/// A slider that shows its value and unit, runs logarithmically where asked, and takes a typed number after a
/// double click. True while the value changes. `name` for the probe.
struct SliderRange {
    double min = 0, max = 1;
    bool logarithmic = false;
    bool integer = false;
};
bool value_slider(const std::string& id, double& value, const SliderRange& range, const std::string& unit);

/// A number without a useful range: type it, or drag.
bool value_field(const std::string& id, double& value, const SliderRange& range, const std::string& unit);

/// One labelled line for one parameter; the new value when the user changed it. Tooltip, reset (right click)
/// and range come from the declaration.
std::optional<ParamValue> param_control(const std::string& owner, const ParamDecl& decl,
                                        const ParamValue& current, const ParamValue& initial);

/// All visible parameters of a set, in the order of their declaration; `edit` is called at most once a
/// parameter and frame. `after` may add a line below a control (for example where the value really comes
/// from).
using EditFunction = std::function<void(const std::string& name, const ParamValue& value)>;
void param_controls(const std::string& owner, const Params& params, const EditFunction& edit,
                    const std::function<void(const ParamDecl&)>& after = {});

/// A file dropped on the window goes to the text field under the mouse, or is taken by whoever asks last.
void offer_drop(std::string path);
std::optional<std::string> take_drop();

/// Label in the left column; the next item fills the right one.
void control_label(const char* label);
void tooltip(const std::string& text);
/// For the tooltip that comes next: near the lower edge it lies above the last item, and not on those beside
/// it.
void tooltip_above();
/// As much of the text as the width holds, with an ellipsis where it is cut.
std::string fitted(const ImFont& font, std::string text, float width);
/// The same of the name of a file or a source, cut in the middle: what tells it from others is at its end.
std::string fitted_name(const ImFont& font, const std::string& text, float width);
/// The text in lines of this width, broken at blanks alone: Dear ImGui breaks behind points and commas, too,
/// and so within a number. A word that is longer than a line is left to it.
std::string wrapped(const ImFont& font, const std::string& text, float width);
/// For the label of a control: Dear ImGui hides what stands behind "##", which a name may hold.
std::string label_text(std::string name);
/// For a list or menu that is being drawn: Escape closes it. True if it did.
bool close_on_escape();
/// A line of small text.
void hint(const std::string& text, ImU32 color = theme::kDim);
/// Push button; `pressed` draws it as switched on.
bool tool_button(const char* label, bool pressed = false, float width = 0);
/// The sections that are drawn next are open as this list has it, and change it: the titles, with commas, of
/// those that are not as `open_at_first`. Null: none is remembered.
void sections_of(std::string* changed);
/// A heading with a triangle; true while open. `with_buttons`: others lie on it, and it is not remembered.
bool section(const char* title, bool open_at_first = true, bool with_buttons = false);

} // namespace specklescope
