#include "base/error.hpp"
#include "recording/screen/burn.hpp"
#include "recording/screen/look.hpp"

namespace specklescope {

const std::vector<std::string>& screen_layout_names() {
    static const std::vector<std::string> names = {"processed", "raw", "side_by_side", "split", "blended"};
    return names;
}

const ParamTable& screen_marks_table() {
    using M = ScreenMarks;
    static const ParamTable table =
        Declare<M>("screen")
            .boolean("burn_bar", &M::bar, {.doc = "Draw the colour bar next to the image in screen movies"})
            .boolean("burn_time", &M::time, {.doc = "Draw time and frame number on screen movies"})
            .boolean("burn_scale", &M::scale,
                     {.doc = "Draw a scale bar on screen movies, if the pixel size is known"})
            .boolean("burn_regions", &M::regions,
                     {.doc = "Draw outlines and names of regions on screen movies"})
            .boolean("burn_events", &M::events, {.doc = "Draw event labels for two seconds on screen movies"})
            .integer(
                "screen_zoom", &M::zoom,
                {.min = 1, .max = M::kMaxZoom, .doc = "Enlarge the pixels of screen movies by this factor"})
            .table();
    return table;
}

void check_marks(const ScreenMarks& marks, const std::string& owner) {
    if (!marks.any() || can_burn())
        return;
    std::string named;
    for (const ParamDecl& decl : screen_marks_table().decls())
        if (decl.kind == ParamKind::boolean && std::get<bool>(decl.get(std::any(marks)))) {
            named = decl.name;
            break;
        }
    throw UsageError(owner + ": " + named +
                     " = true is not available: built without Pango and Cairo. Install libpango1.0-dev and "
                     "build again, or leave the marks out.");
}

} // namespace specklescope
