// Simulated speckle with known truth: for tests, for demonstrations, and for trying things without a camera.
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
    double rate = 60; ///< frames/s; 0: as fast as they are taken
    double speed = 1; ///< not live: times the rate; 0: as fast as they are taken
    int bits = 12;    ///< 8 or 9…16
    double exposure_ms = 5;
    double tau_ms = 1;  ///< correlation time of the uniform scene
    double speckle = 2; ///< px, full width at half maximum
    double noise = 1;   ///< times the noise of a common camera; 0: none
    int seed = 1;
    int frames = 0;   ///< 0: endless
    bool live = true; ///< drops what finds no slot, as a camera does
};

SourceType synthetic_source_type();
const ParamTable& synthetic_table();

/// What the simulation is made of; shared by the source and by tests that hold its frames against the truth.
struct SyntheticTruth {
    SceneMaps scene;
    double beta = 1;       ///< coherence factor of the optics
    double mean = 0;       ///< DN where brightness is 1
    double full_scale = 0; ///< (1 << bits) − 1
    CameraNoise noise;
};
/// Throws UsageError where the options contradict each other.
SyntheticTruth synthetic_truth(const SyntheticOptions& options);

} // namespace specklescope
