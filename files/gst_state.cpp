#include "files/gst_state.hpp"

#include "base/error.hpp"
#include "base/lacking.hpp"
#include "files/gst_handles.hpp"

#include <system_error>
#include <thread>
#include <utility>

namespace specklescope {

std::future<GstStateChangeReturn> set_state_aside(GstElement* element, GstState state) {
    std::promise<GstStateChangeReturn> promise;
    std::future<GstStateChangeReturn> done = promise.get_future();
    try {
        std::thread([promise = std::move(promise), held = share(element), state]() mutable {
            promise.set_value(gst_element_set_state(held.get(), state));
        }).detach();
    } catch (const std::system_error&) {
        throw RunError("GStreamer " + did_not_start());
    }
    return done;
}

} // namespace specklescope
