// Triggers, output lines, chunks and PTP of a camera.
#pragma once

#include "sources/aravis/aravis_source.hpp"
#include "sources/aravis/features.hpp"

#include <optional>

namespace specklescope {

/// Throws UsageError for contradictory options, for any camera.
void check_wiring(const AravisParams& params);
/// Feature settings for the options on this camera. Throws UsageError if the camera lacks a feature; sets
/// nothing.
std::vector<FeatureSetting> wiring(const NamedCamera& camera, const AravisParams& params);

bool wants_software_trigger(const AravisParams& params);
/// The camera waits for a trigger, set by this program or another.
bool is_triggered(const NamedCamera& camera);
/// "Slave", "Master", "Listening"…; empty without PTP. With `patience` it waits that long for a state of
/// master or slave.
std::string ptp_state(const NamedCamera& camera, std::chrono::milliseconds patience);

/// Chunk data of a frame; nothing if a frame has none.
class Chunks {
public:
    explicit Chunks(ArvCamera* camera) : parser_(arv_camera_create_chunk_parser(camera)) {}
    std::optional<double> exposure_ms(ArvBuffer* buffer) const;
    std::optional<std::int64_t> time(ArvBuffer* buffer) const; ///< ticks of the camera's clock

private:
    ArvHandle<ArvChunkParser> parser_;
};

} // namespace specklescope
