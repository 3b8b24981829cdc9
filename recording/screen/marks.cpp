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
            .boolean("burn_bar", &M::bar,
                     {.doc = "movies of the screen have the colour bar beside the picture"})
            .boolean("burn_time", &M::time,
                     {.doc = "movies of the screen have the time since their first frame and the frame's "
                             "number on the picture, of a camera the time of day too"})
            .boolean("burn_scale", &M::scale,
                     {.doc = "movies of the screen have a scale bar, where it is known how large a pixel is"})
            .boolean("burn_regions", &M::regions,
                     {.doc = "movies of the screen have the outlines and names of the regions"})
            .boolean("burn_events", &M::events,
                     {.doc = "view: movies of the screen have the label of an event for two seconds from it"})
            .integer("screen_zoom", &M::zoom,
                     {.min = 1,
                      .max = M::kMaxZoom,
                      .doc = "a pixel of the picture is this many pixels wide and high in movies of the "
                             "screen; small pictures have room for marks then"})
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
    throw UsageError(
        owner + ": " + named +
        " = true cannot be drawn: this build has no Pango and Cairo; install libpango1.0-dev and "
        "build again, or leave the marks out.");
}

} // namespace specklescope
