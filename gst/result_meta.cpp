#include "gst/result_meta.hpp"

#include <cmath>

namespace specklescope::element {

namespace {

void set_meaning(GstStructure* structure, const Meaning& meaning) {
    if (!std::isnan(meaning.scale))
        gst_structure_set(structure, "scale", G_TYPE_DOUBLE, meaning.scale, "offset", G_TYPE_DOUBLE,
                          meaning.offset, nullptr);
    if (!std::isnan(meaning.low))
        gst_structure_set(structure, "low", G_TYPE_DOUBLE, meaning.low, "high", G_TYPE_DOUBLE, meaning.high,
                          nullptr);
}

GstStructure* structure_of(const specklescope_region& region) {
    return gst_structure_new(
        "region", "name", G_TYPE_STRING, region.name, "shape", G_TYPE_STRING, region.shape, "fit",
        G_TYPE_STRING, region.fit, "mean", G_TYPE_DOUBLE, region.mean, "mean-of-map", G_TYPE_DOUBLE,
        region.mean_of_map, "standard-deviation", G_TYPE_DOUBLE, region.standard_deviation, "minimum",
        G_TYPE_DOUBLE, region.minimum, "maximum", G_TYPE_DOUBLE, region.maximum, "median", G_TYPE_DOUBLE,
        region.median, "pixels", G_TYPE_UINT64, region.pixels, "valid", G_TYPE_UINT64, region.valid,
        "infinite", G_TYPE_UINT64, region.infinite, "undefined", G_TYPE_UINT64, region.undefined, "saturated",
        G_TYPE_INT64, region.saturated, nullptr);
}

void set_regions(GstStructure* structure, const std::vector<specklescope_region>& regions) {
    if (regions.empty())
        return;
    GValue list = G_VALUE_INIT, one = G_VALUE_INIT;
    g_value_init(&list, GST_TYPE_ARRAY);
    g_value_init(&one, GST_TYPE_STRUCTURE);
    for (const specklescope_region& region : regions) {
        g_value_take_boxed(&one, structure_of(region));
        gst_value_array_append_value(&list, &one);
    }
    gst_structure_take_value(structure, "regions", &list);
    g_value_unset(&one);
}

} // namespace

void register_result_meta() {
    static const gchar* no_tags[] = {nullptr};
    if (!gst_meta_get_info(kResultMeta))
        gst_meta_register_custom(kResultMeta, no_tags, nullptr, nullptr, nullptr);
}

void add_result_meta(GstBuffer* buffer, const specklescope_result& result, const Meaning& meaning,
                     const std::vector<specklescope_region>& regions, GstSample* values) {
    while (GstCustomMeta* of_frame = gst_buffer_get_custom_meta(buffer, kResultMeta))
        gst_buffer_remove_meta(buffer, &of_frame->meta);
    GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, kResultMeta);
    if (!meta)
        return;
    GstStructure* structure = gst_custom_meta_get_structure(meta);
    set_meaning(structure, meaning);
    gst_structure_set(structure, "quantity", G_TYPE_STRING, result.quantity, "symbol", G_TYPE_STRING,
                      result.symbol, "unit", G_TYPE_STRING, result.unit, "measure", G_TYPE_STRING,
                      result.measure, "time-ns", G_TYPE_INT64, result.time_ns, "arrival-ns", G_TYPE_INT64,
                      result.arrival_ns, "position", G_TYPE_INT64, result.position, "warming-up",
                      G_TYPE_BOOLEAN, static_cast<gboolean>(result.warming_up), "sequence", G_TYPE_UINT64,
                      result.sequence, "version", G_TYPE_UINT64, result.version, "exposure-ms", G_TYPE_DOUBLE,
                      result.exposure_ms, "exposure-origin", G_TYPE_STRING, result.exposure_origin,
                      "undefined", G_TYPE_UINT64, result.undefined, "infinite", G_TYPE_UINT64,
                      result.infinite, "saturated", G_TYPE_UINT64, result.saturated, "windows", G_TYPE_UINT64,
                      result.windows, "raw-saturated", G_TYPE_UINT64, result.raw_saturated, "raw-samples",
                      G_TYPE_UINT64, result.raw_samples, "warmup-frames", G_TYPE_INT, result.warmup_frames,
                      "warmup-wanted", G_TYPE_INT, result.warmup_wanted, nullptr);
    set_regions(structure, regions);
    if (values)
        gst_structure_set(structure, "values", GST_TYPE_SAMPLE, values, nullptr);
}

bool made_in_warmup(GstBuffer* frame) {
    GstCustomMeta* const meta = gst_buffer_get_custom_meta(frame, kResultMeta);
    gboolean warming_up = FALSE;
    return meta &&
           gst_structure_get_boolean(gst_custom_meta_get_structure(meta), "warming-up", &warming_up) &&
           warming_up;
}

} // namespace specklescope::element
