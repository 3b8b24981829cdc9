#include "stages/background/background.hpp"

namespace specklescope {

const ParamTable& background_table() {
    using From = BackgroundParams::From;
    static const ParamTable table =
        Declare<BackgroundParams>("stage background")
            .choice("dark", &BackgroundParams::dark, {"none", "file", "capture"},
                    {.cost = Cost::rebuild,
                     .doc = "the frame without light that is subtracted; capture: the mean of the first "
                            "frames, and of others when the button is pressed"})
            .text("dark_file", &BackgroundParams::dark_file,
                  {.cost = Cost::rebuild,
                   .visible = [](const BackgroundParams& p) { return p.dark == From::file; },
                   .doc = "PNG or TIFF image of the camera's size"})
            .action("capture_dark", &BackgroundParams::capture_dark,
                    {.visible = [](const BackgroundParams& p) { return p.dark == From::capture; },
                     .doc = "take the dark frame anew from the next frames: cover the lens first"})
            .real("black", &BackgroundParams::black,
                  {.unit = "DN",
                   .min = 0,
                   .max = 65535,
                   .visible = [](const BackgroundParams& p) { return p.dark == From::none; },
                   .doc = "black level of the camera, subtracted where there is no dark frame"})
            .choice(
                "flat", &BackgroundParams::flat, {"none", "file", "capture"},
                {.cost = Cost::rebuild,
                 .doc = "the frame of an even surface that evens out light and lens; capture as for dark"})
            .text("flat_file", &BackgroundParams::flat_file,
                  {.cost = Cost::rebuild,
                   .visible = [](const BackgroundParams& p) { return p.flat == From::file; },
                   .doc = "PNG or TIFF image of the camera's size"})
            .action("capture_flat", &BackgroundParams::capture_flat,
                    {.visible = [](const BackgroundParams& p) { return p.flat == From::capture; },
                     .doc = "take the flat field anew from the next frames: show an even surface first"})
            .integer("frames", &BackgroundParams::frames,
                     {.min = 1,
                      .max = 1000,
                      .logarithmic = true,
                      .visible =
                          [](const BackgroundParams& p) {
                              return p.dark == From::capture || p.flat == From::capture;
                          },
                      .doc = "how many frames the next capture takes the mean of"})
            .table();
    return table;
}

bool background_passes(const Params& params) { return params.as<BackgroundParams>().passes(); }

} // namespace specklescope
