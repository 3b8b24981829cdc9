// What a camera waits for and what it tells others: triggers, output lines, chunks, PTP.
#pragma once

#include "sources/aravis/aravis_source.hpp"
#include "sources/aravis/features.hpp"

#include <optional>

namespace specklescope {

/// Throws UsageError for options that contradict each other, whatever the camera.
void check_wiring(const AravisParams& params);
/// What the options come to on this camera. Throws UsageError where it has not what they need; nothing is
/// set.
std::vector<FeatureSetting> wiring(const NamedCamera& camera, const AravisParams& params);

bool wants_software_trigger(const AravisParams& params);
/// The camera waits for a trigger, whoever set it so.
bool is_triggered(const NamedCamera& camera);
/// "Slave", "Master", "Listening"…; empty where PTP is off, or the camera has none. With `patience` it waits
/// so long for a clock that is master or follows one.
std::string ptp_state(const NamedCamera& camera, std::chrono::milliseconds patience);

/// Facts about a frame that came with its pixels; nothing where it came without.
class Chunks {
public:
    explicit Chunks(ArvCamera* camera) : parser_(arv_camera_create_chunk_parser(camera)) {}
    std::optional<double> exposure_ms(ArvBuffer* buffer) const;
    std::optional<std::int64_t> time(ArvBuffer* buffer) const; ///< ticks of the camera's clock

private:
    ArvHandle<ArvChunkParser> parser_;
};

} // namespace specklescope
