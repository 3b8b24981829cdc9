// What GStreamer asks the plugin for.
#include "gst/element.hpp"
#include "gst/result_meta.hpp"

#define PACKAGE "specklescope" // GST_PLUGIN_DEFINE wants it by this name

namespace {

gboolean begin(GstPlugin* plugin) {
    specklescope::element::register_result_meta();
    return gst_element_register(plugin, "specklescope", GST_RANK_NONE, specklescope::element::element_type());
}

} // namespace

// The sources are under the Apache licence; FFTW, which the library is linked with, is under the GPL.
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, specklescope,
                  "Speckle contrast and flow: Specklescope's chains as an element", begin,
                  SPECKLESCOPE_VERSION, "GPL", "Specklescope", "https://specklescope.invalid/")
