// The element `specklescope`: a chain and a view as a video filter.
#pragma once

#include "gst/frames.hpp"

#include <gst/base/gstbasetransform.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace specklescope::element {

struct State {
    // Any thread.
    EditedChain chain;
    EditedView view;
    std::atomic<double> exposure_ms{0}, full_scale{0};
    std::atomic<bool> started{false}; ///< changes under the lock
    std::atomic<bool> values{false};  ///< images carry their exact numbers
    std::atomic<bool> restart{true};  ///< the next frame does not follow the previous one
    std::mutex lock;
    // Under the lock.
    std::string options, regions, output_name;
    std::map<std::string, std::string> wrong; ///< refusals before the start, by property
    std::map<std::size_t, std::string>
        waiting; ///< values for stages that the chain does not have yet, by declaration

    // The streaming thread.
    std::optional<InputFormat> input;
    std::optional<OutputFormat> output;
    specklescope_image made{}; ///< output shape of the chain for `input`
    std::unique_ptr<Frames> frames;
    GstSegment segment{};
    bool told_automatic = false, told_luma = false;
};

struct Element {
    GstBaseTransform base;
    State* state; ///< created with the instance, ends with it
};

GType element_type();
State& state_of(gpointer element);

/// Installs chain, edit, options, … and the declared properties.
void install_properties(GObjectClass* object_class);
void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec);
void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec);
/// Applies controllers for the frame at that stream time; a refusal is reported once, not for every frame.
void follow_controllers(Element& element, GstClockTime time);
/// Posts refusals from before the start as an error and returns false; values without a stage are a warning.
/// Otherwise the element has started, and later wrong values are refused at once.
bool check_properties(Element& element);

void post_error(Element& element, const std::string& sentence);
void post_warning(Element& element, const std::string& sentence);

} // namespace specklescope::element
