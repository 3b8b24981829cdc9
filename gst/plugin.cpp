// Entry point of the plugin.
#include "gst/element.hpp"
#include "gst/result_meta.hpp"

#define PACKAGE "specklescope" // required by GST_PLUGIN_DEFINE

namespace {

gboolean begin(GstPlugin* plugin) {
    specklescope::element::register_result_meta();
    return gst_element_register(plugin, "specklescope", GST_RANK_NONE, specklescope::element::element_type());
}

} // namespace

// The sources have the Apache licence; FFTW, to which the library is linked, has the GPL.
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, specklescope,
                  "Speckle contrast and flow: Specklescope's chains as an element", begin,
                  SPECKLESCOPE_VERSION, "GPL", "Specklescope", "https://specklescope.invalid/")
