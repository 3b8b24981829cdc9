#include "ui/panels/change_panel.hpp"

#include "config/keys/bindings.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

namespace specklescope {

namespace {

using theme::dp;

void declared(Session& session, const char* name) {
    Params& view = session.settings().view;
    const ParamDecl& decl = view.table().at(name);
    if (const auto value = param_control("view", decl, view.get(name), Params(view.table()).get(name)))
        view.set(name, *value);
}

} // namespace

void draw_change_lines(Session& session, ViewState& state, const Display& display) {
    control_label("Baseline");
    const std::optional<double> progress = session.picture_baseline.progress();
    const bool taken = session.picture_baseline.image() != nullptr;
    const float gap = dp(4), width = (ImGui::CalcItemWidth() - gap) / 2;
    const std::string label = progress ? number_text(100 * *progress, 3) + " %, end" : "Take";
    if (tool_button((label + "##baseline").c_str(), progress.has_value(), width)) {
        session.picture_baseline.take();
        state.change = true;
    }
    probe::item("change.take");
    const KeyBindings& keys = session.settings().keys;
    tooltip(with_key("F₀ of every pixel: the mean of the results of the next " +
                         number_text(session.view().baseline_s, 3) + " s; taken of K² as for regions",
                     keys, Action::baseline_picture));
    ImGui::SameLine(0, gap);
    ImGui::BeginDisabled(!taken);
    if (tool_button("ΔF/F₀", state.change && taken, width))
        state.change = !state.change;
    ImGui::EndDisabled();
    probe::item("change.show");
    tooltip(with_key("The picture as 100·(F/F₀ − 1) %, or in absolute units", keys, Action::change));
    declared(session, "baseline_s");
    if (!state.change || !taken)
        return;
    declared(session, "change_range");
    if (!display.has_result())
        return;
    if (const std::string misfit = session.picture_baseline.image()->misfit(display.result()); !misfit.empty())
        hint("No change is shown: " + misfit + ".", theme::kWarning);
}

void draw_layout_lines(Session& session) {
    using Layout = ViewSettings::Layout;
    declared(session, "layout");
    const Layout layout = session.view().layout;
    if (layout == Layout::split)
        declared(session, "split");
    if (layout == Layout::blended) {
        declared(session, "blend_opacity");
        declared(session, "blend_threshold");
    }
}

} // namespace specklescope
