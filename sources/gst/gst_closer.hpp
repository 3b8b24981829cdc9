// Stops pipelines and cameras without waiting for a dead camera.
#pragma once

#include "files/gst_handles.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace specklescope {

/// Sets the pipeline to NULL and releases it on a separate thread, waiting at most `patience`. A longer stop
/// continues there and is joined by a later call or at process exit. `key` names the device.
void retire_pipeline(GstHandle<GstElement> pipeline, const std::string& key,
                     std::chrono::milliseconds patience);
/// The same for a device that `stop` stops and releases; it must not throw.
void retire_device(std::function<void()> stop, const std::string& key, std::chrono::milliseconds patience);
/// True if a pipeline with this key is still being stopped after five seconds: its device cannot be reopened
/// yet.
bool pipeline_closing(const std::string& key);

} // namespace specklescope
