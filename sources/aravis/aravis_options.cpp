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
               .doc = "frame rate, with triggers the maximum; 0: as the camera is set"})
        .choice(
            "format", &P::format, camera_format_names(),
            {.cost = kRebuild,
             .doc = "pixel format; auto: grey with the most bits, else a mosaic, else colour; p and packed "
                    "need less bandwidth; bayer is binned 2×2 to colour; of yuv422 only luma is read"})
        .choice(
            "byteorder", &P::byte_order, {"auto", "little", "big"},
            {.cost = kRebuild, .doc = "byte order of 16-bit pixels; auto: as the camera states, else little"})
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
                  .doc = "GigE Vision packet size; 0: negotiated"});
    return declare;
}

ParamTable declare_all() {
    return picture()
        .text("trigger", &P::trigger,
              {.cost = kRebuild,
               .doc = "trigger of a frame: off (free running), software, or the name of an input of the "
                      "camera (Line1); keep: as the camera is set"})
        .choice("activation", &P::activation, {"keep", "rising", "falling", "any", "high", "low"},
                {.cost = kRebuild, .doc = "edge or level of the trigger input"})
        .real("trigger-rate", &P::trigger_rate,
              {.unit = "1/s",
               .min = 0,
               .max = 10000,
               .least = kMinRate,
               .cost = kRebuild,
               .doc = "rate of software triggers; 0: only on request (fire)"})
        .integer(
            "triggers", &P::triggers,
            {.min = 0,
             .max = 1000000000,
             .cost = kRebuild,
             .doc = "number of software triggers; the source ends after the frame of the last; 0: no limit"})
        .choice(
            "trigger-start", &P::trigger_start, {"open", "record"},
            {.cost = kRebuild, .doc = "when software triggers are sent: from opening, or while recording"})
        .action("fire", &P::fire, {.doc = "sends one software trigger"})
        .text("output-line", &P::output_line,
              {.cost = kRebuild, .doc = "an output of the camera, by its name (Line2)"})
        .text("output-source", &P::output_source,
              {.cost = kRebuild, .doc = "signal on that output, by its name in the camera (ExposureActive)"})
        .choice("chunks", &P::chunks, {"keep", "off", "on"},
                {.cost = kRebuild,
                 .doc = "chunk data: each frame carries its exposure, and its time if the camera has it; "
                        "keep: as the camera is set"})
        .choice(
            "ptp", &P::ptp, {"keep", "off", "on"},
            {.cost = kRebuild,
             .doc =
                 "synchronise the camera's clock with the network (IEEE 1588); keep: as the camera is set"})
        .table();
}

} // namespace

const ParamTable& aravis_table() {
    static const ParamTable table = declare_all();
    return table;
}

} // namespace specklescope
