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
              {.unit = "ms",
               .min = 0,
               .max = 100000,
               .logarithmic = true,
               .doc = "Exposure time. 0: as the camera is set"})
        .text("exposures", &P::exposures,
              {.label = "Exposure cycle",
               .unit = "ms",
               .cost = kRebuild,
               .doc =
                   "Exposure times in turn, as 0.5,2,8, repeated. Frames state theirs by chunk data if the "
                   "camera has them; otherwise settle frames are discarded after each change"})
        .integer("settle", &P::settle,
                 {.label = "Settling frames",
                  .min = 0,
                  .max = 100,
                  .cost = kRebuild,
                  .doc = "Frames discarded after a change of exposure (exposures) if the camera does not "
                         "state the exposure of each frame"})
        .real("gain", &P::gain,
              {.unit = "dB", .min = -1, .max = 500, .doc = "Gain. -1: as the camera is set"})
        .real("rate", &P::rate,
              {.unit = "1/s",
               .min = 0,
               .max = kMaxRate,
               .least = kMinRate,
               .cost = kRebuild,
               .doc = "Frame rate; with triggers, the maximum. 0: as the camera is set"})
        .choice("format", &P::format, choice_names(camera_format_names()),
                {.label = "Pixel format",
                 .cost = kRebuild,
                 .doc = "Pixel format. auto: grey with the most bits, else a mosaic, else colour. Formats "
                        "with p or packed need less bandwidth. bayer: binned to colour of half the size. "
                        "yuv422: only grey is read"})
        .choice("byteorder", &P::byte_order,
                {{"auto", "As the camera says"}, {"little", "Little-endian"}, {"big", "Big-endian"}},
                {.label = "Byte order",
                 .cost = kRebuild,
                 .doc = "Byte order of 16-bit pixels. auto: as the camera says, otherwise little"})
        .integer("width", &P::width,
                 {.unit = "px",
                  .min = 0,
                  .max = kMaxSide,
                  .cost = kRebuild,
                  .doc = "Width. 0: as the camera is set"})
        .integer("height", &P::height,
                 {.unit = "px",
                  .min = 0,
                  .max = kMaxSide,
                  .cost = kRebuild,
                  .doc = "Height. 0: as the camera is set"})
        .integer("packet-size", &P::packet_size,
                 {.unit = "bytes",
                  .min = 0,
                  .max = 65500,
                  .cost = kRebuild,
                  .doc = "Packet size on a GigE network. 0: negotiated"});
    return declare;
}

ParamTable declare_all() {
    return picture()
        .text("trigger", &P::trigger,
              {.cost = kRebuild,
               .doc = "Trigger of a frame: off (free-running), software, or the camera's name of an input "
                      "(Line1). keep: as the camera is set"})
        .choice(
            "activation", &P::activation,
            {{"keep", "As the camera is set"}, "rising", "falling", "any", "high", "low"},
            {.label = "Trigger edge", .cost = kRebuild, .doc = "Edge or level of the input that triggers"})
        .real("trigger-rate", &P::trigger_rate,
              {.unit = "1/s",
               .min = 0,
               .max = 10000,
               .least = kMinRate,
               .cost = kRebuild,
               .doc = "Rate of software triggers. 0: on request (fire)"})
        .integer("triggers", &P::triggers,
                 {.label = "Triggers in all",
                  .min = 0,
                  .max = 1000000000,
                  .cost = kRebuild,
                  .doc = "Number of software triggers until the source ends. 0: no limit"})
        .choice("trigger-start", &P::trigger_start, {"open", "record"},
                {.cost = kRebuild,
                 .doc = "Start of software triggers: when the camera opens, or while recording"})
        .action("fire", &P::fire, {.label = "Send a trigger", .doc = "Send one software trigger"})
        .text("output-line", &P::output_line,
              {.cost = kRebuild, .doc = "Output line that signals, by its name in the camera (Line2)"})
        .text("output-source", &P::output_source,
              {.cost = kRebuild,
               .doc = "Signal on the output line, by its name in the camera (ExposureActive)"})
        .choice("chunks", &P::chunks, {{"keep", "As the camera is set"}, "off", "on"},
                {.label = "Facts per frame",
                 .cost = kRebuild,
                 .doc = "Store exposure and, if available, time with each frame. keep: as the camera is set"})
        .choice(
            "ptp", &P::ptp, {{"keep", "As the camera is set"}, "off", "on"},
            {.label = "Clock (PTP)",
             .cost = kRebuild,
             .doc =
                 "Synchronise the camera's clock with the network (IEEE 1588). keep: as the camera is set"})
        .table();
}

} // namespace

const ParamTable& aravis_table() {
    static const ParamTable table = declare_all();
    return table;
}

} // namespace specklescope
