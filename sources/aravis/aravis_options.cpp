#include "sources/aravis/aravis_source.hpp"

#include "sources/aravis/camera.hpp"

namespace specklescope {

namespace {

using P = AravisParams;
constexpr Cost kRebuild = Cost::rebuild;

Declare<P> picture() {
    Declare<P> declare("source aravis");
    declare
        .real("exposure", &P::exposure_ms,
              {.unit = "ms", .min = 0, .max = 100000, .logarithmic = true, .doc = "0: as the camera is set"})
        .real("gain", &P::gain, {.unit = "dB", .min = -1, .max = 500, .doc = "-1: as the camera is set"})
        .real("rate", &P::rate,
              {.unit = "1/s",
               .min = 0,
               .max = kMaxRate,
               .least = kMinRate,
               .cost = kRebuild,
               .doc = "of a camera with triggers the most that it takes; 0: as the camera is set"})
        .choice(
            "format", &P::format, camera_format_names(),
            {.cost = kRebuild,
             .doc =
                 "pixel format; auto: grey of the most bits that the camera has, else a mosaic, else colour; "
                 "p and packed need less of the cable; bayer is made into colour of half the sides by "
                 "binning; of yuv422 only grey is read"})
        .choice("byteorder", &P::byte_order, {"auto", "little", "big"},
                {.cost = kRebuild, .doc = "of 16-bit pixels; auto: as the camera states, else little"})
        .integer(
            "width", &P::width,
            {.unit = "px", .min = 0, .max = kMaxSide, .cost = kRebuild, .doc = "0: as the camera is set"})
        .integer(
            "height", &P::height,
            {.unit = "px", .min = 0, .max = kMaxSide, .cost = kRebuild, .doc = "0: as the camera is set"})
        .integer("packet-size", &P::packet_size,
                 {.unit = "bytes",
                  .min = 0,
                  .max = 65500,
                  .cost = kRebuild,
                  .doc = "on a GigE wire; 0: negotiated"});
    return declare;
}

ParamTable declare_all() {
    return picture()
        .text("trigger", &P::trigger,
              {.cost = kRebuild,
               .doc = "what starts a frame: off (none: it runs freely), software, the name that the camera "
                      "has for an input (Line1); keep: as the camera is set"})
        .choice("activation", &P::activation, {"keep", "rising", "falling", "any", "high", "low"},
                {.cost = kRebuild, .doc = "edge or level of the input that triggers"})
        .real("trigger-rate", &P::trigger_rate,
              {.unit = "1/s",
               .min = 0,
               .max = 10000,
               .least = kMinRate,
               .cost = kRebuild,
               .doc = "software triggers sent; 0: on request (fire)"})
        .integer(
            "triggers", &P::triggers,
            {.min = 0,
             .max = 1000000000,
             .cost = kRebuild,
             .doc = "number of software triggers; the source ends after the frame of the last; 0: no limit"})
        .choice("trigger-start", &P::trigger_start, {"open", "record"},
                {.cost = kRebuild,
                 .doc = "when software triggers are sent: from the opening on, or while a recorder runs"})
        .action("fire", &P::fire, {.doc = "sends one software trigger"})
        .text("output-line", &P::output_line,
              {.cost = kRebuild, .doc = "an output that tells others, by its name in the camera (Line2)"})
        .text("output-source", &P::output_source,
              {.cost = kRebuild, .doc = "what it tells, by its name in the camera (ExposureActive)"})
        .choice("chunks", &P::chunks, {"keep", "off", "on"},
                {.cost = kRebuild,
                 .doc = "each frame carries its exposure, and its time where the camera has it; keep: as the "
                        "camera is set"})
        .choice("ptp", &P::ptp, {"keep", "off", "on"},
                {.cost = kRebuild,
                 .doc = "the camera's clock follows the network's (IEEE 1588); keep: as the camera is set"})
        .table();
}

} // namespace

const ParamTable& aravis_table() {
    static const ParamTable table = declare_all();
    return table;
}

} // namespace specklescope
