// Stops pipelines and cameras without making anyone wait for a dead camera.
#pragma once

#include "files/gst_handles.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace specklescope {

/// Sets the pipeline to NULL and lets go of it on a thread of its own, and waits for that at most `patience`.
/// What takes longer goes on there and is joined by a later call, or at the end of the process. `key` names
/// the device.
void retire_pipeline(GstHandle<GstElement> pipeline, const std::string& key,
                     std::chrono::milliseconds patience);
/// The same for what `stop` stops and lets go of; it throws nothing.
void retire_device(std::function<void()> stop, const std::string& key, std::chrono::milliseconds patience);
/// True while a pipeline of this key is still being stopped: the device cannot be opened again yet.
bool pipeline_closing(const std::string& key);

} // namespace specklescope
