// The simulated cortex: a map of flow speed, drawn as trees of vessels on slow tissue.
#pragma once

#include <cstdint>
#include <vector>

namespace specklescope {

/// Maps of width·height values, row by row.
struct SceneMaps {
    int width = 0;
    int height = 0;
    std::vector<float> still; ///< static 1/τc (tissue), 1/s
    std::vector<float> flow;  ///< mean 1/τc added by vessels, 1/s
    std::vector<float>
        pulse; ///< pulsating fraction of `flow`: 1/τc = still + flow·(1 + pulse·pulse_wave(phase))
    std::vector<float> brightness; ///< relative, 0…1: illumination and absorption
};

/// Arteries and veins enter at the borders and branch by Murray's law (r₀³ = r₁³ + r₂³), with parabolic
/// profiles on slowly varying tissue. The same seed and aspect ratio give the same image at any size.
SceneMaps vessel_scene(int width, int height, std::uint64_t seed);

/// One value of 1/τc everywhere, full brightness; rate 0: static.
SceneMaps uniform_scene(int width, int height, double rate);

/// Blood pressure over one heartbeat, phase 0…1 (periodic): mean 0, steep rise, a second smaller wave; peak
/// near 1.
double pulse_wave(double phase);
inline constexpr double kPulseRate = 1.2;  ///< heartbeats per second
inline constexpr double kTissueRate = 700; ///< mean 1/τc of the tissue, 1/s: τc 1.4 ms

/// 1/τc in 1/s of every pixel at a phase of the heartbeat.
void scene_rates(const SceneMaps& scene, double phase, std::vector<float>& rates);

} // namespace specklescope
