// Simulated speckle with known truth: for tests, demonstrations, and trying the program without a camera.
#pragma once

#include "pipeline/source.hpp"
#include "sources/registry.hpp"
#include "sources/synthetic/speckle_field.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

// The simulated cortex: a map of flow speed, drawn as trees of vessels on slow tissue.

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

/// One value of 1/τc everywhere, full brightness; rate 0: static. `pulse`: as the map of that name.
SceneMaps uniform_scene(int width, int height, double rate, double pulse);

/// Vertical vessels of the given width, every 4 widths, on tissue a tenth as fast; the same speed over their
/// width. Pixels at an edge have the mean rate of their area.
SceneMaps straight_scene(int width, int height, double rate, double pulse, double vessel_px);

/// Blood pressure over one heartbeat, phase 0…1 (periodic): mean 0, steep rise, a second smaller wave; peak
/// near 1.
double pulse_wave(double phase);
inline constexpr double kPulseRate = 1.2;  ///< heartbeats per second
inline constexpr double kTissueRate = 700; ///< mean 1/τc of the tissue, 1/s: τc 1.4 ms

/// 1/τc in 1/s of every pixel at a phase of the heartbeat.
void scene_rates(const SceneMaps& scene, double phase, std::vector<float>& rates);

struct SyntheticOptions {
    enum class Scene : std::uint8_t { vessels, uniform, still, straight };
    enum class Frames : std::uint8_t { automatic, computed, mixed };

    Scene scene = Scene::vessels;
    int width = 1280;
    int height = 1024;
    double rate = 60; ///< frames/s; 0: as fast as possible
    double speed = 1; ///< not live: factor of the rate; 0: as fast as possible
    int bits = 12;    ///< 8 or 9…16
    double exposure_ms = 5;
    double tau_ms = 1;  ///< correlation time of the uniform scene
    double speckle = 2; ///< px, full width at half maximum in the recorded image
    double noise = 1;   ///< relative to the noise of a common camera; 0: none
    int seed = 1;
    int frames = 0;   ///< 0: endless
    bool live = true; ///< drops frames without a slot, like a camera
    Frames making = Frames::automatic;
    double rho = 1;        ///< dynamic part of the light; the rest is a still pattern
    double pulse = 0;      ///< uniform and straight scenes: amplitude of the heartbeat, relative to the flow
    double vessel_px = 20; ///< width of the straight vessels
    std::string exposures; ///< ms, one after another, instead of exposure_ms
    double drift_x = 0, drift_y = 0; ///< px per frame
    double shake = 0;                ///< px, standard deviation along each axis
    double beat = 0;                 ///< px along y with the heartbeat
    double offset = 0;               ///< DN
    double pattern = 0;              ///< %, standard deviation of the pixels' response
    int bad_pixels = 0;
    int hot_columns = 0;
};

SourceType synthetic_source_type();
const ParamTable& synthetic_table();

/// Parameters of the simulation, shared by the source and by tests that compare its frames with the truth.
struct SyntheticTruth {
    SceneMaps scene;
    double beta = 1;       ///< coherence factor of the optics
    double mean = 0;       ///< DN where brightness is 1, without the offset
    double full_scale = 0; ///< (1 << bits) − 1
    CameraNoise noise;
};
/// Throws UsageError if the options contradict each other.
SyntheticTruth synthetic_truth(const SyntheticOptions& options);

/// Exposure times in ms: frame k has number k modulo their count. Throws UsageError for a text that is no
/// list of 0.001 … 10000 ms.
std::vector<double> exposures_of(const SyntheticOptions& options);

/// Frames per second of the heartbeat's clock.
inline double clock_rate(const SyntheticOptions& options) { return options.rate > 0 ? options.rate : 60; }

/// Displacement of the scene in the image, in pixels.
struct SceneShift {
    double x = 0, y = 0;
};
/// Shift of frame `number` at `seconds` of the heartbeat's clock.
SceneShift scene_shift(const SyntheticOptions& options, std::uint64_t number, double seconds);
inline bool scene_moves(const SyntheticOptions& options) {
    return options.drift_x != 0 || options.drift_y != 0 || options.shake != 0 || options.beat != 0;
}

} // namespace specklescope
