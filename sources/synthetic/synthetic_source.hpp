// Simulated speckle with known truth: for tests, demonstrations, and trying the program without a camera.
#pragma once

#include "pipeline/source.hpp"
#include "sources/registry.hpp"
#include "sources/synthetic/speckle_field.hpp"
#include "sources/synthetic/vessel_scene.hpp"

namespace specklescope {

struct SyntheticOptions {
    enum class Scene : std::uint8_t { vessels, uniform, still };

    Scene scene = Scene::vessels;
    int width = 1280;
    int height = 1024;
    double rate = 60; ///< frames/s; 0: as fast as possible
    double speed = 1; ///< not live: factor of the rate; 0: as fast as possible
    int bits = 12;    ///< 8 or 9…16
    double exposure_ms = 5;
    double tau_ms = 1;  ///< correlation time of the uniform scene
    double speckle = 2; ///< px, full width at half maximum
    double noise = 1;   ///< relative to the noise of a common camera; 0: none
    int seed = 1;
    int frames = 0;   ///< 0: endless
    bool live = true; ///< drops frames without a slot, like a camera
};

SourceType synthetic_source_type();
const ParamTable& synthetic_table();

/// Parameters of the simulation, shared by the source and by tests that compare its frames with the truth.
struct SyntheticTruth {
    SceneMaps scene;
    double beta = 1;       ///< coherence factor of the optics
    double mean = 0;       ///< DN where brightness is 1
    double full_scale = 0; ///< (1 << bits) − 1
    CameraNoise noise;
};
/// Throws UsageError if the options contradict each other.
SyntheticTruth synthetic_truth(const SyntheticOptions& options);

} // namespace specklescope
