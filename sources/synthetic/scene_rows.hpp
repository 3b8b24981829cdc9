// Loops over a row of the simulated scene (simd/scene_rows.cpp). The same bits with every instruction set.
#pragma once

#include "pipeline/image.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace specklescope {

/// A row of a torus from column `at` on: x ↦ row[(at + x) % period].
struct TorusRow {
    const float* row = nullptr;
    int period = 0, at = 0;
};

/// Law of a pixel, by its class. With the field's sum s and difference d between start and end of the
/// exposure, a field y of the bridge between them, looks G and the still field z, the light is
///   constant + Σ lookₖ·Gₖ + sum·|s|² + difference·|d|² + |mode·s + bridge·y|²
///   + still·|z|² + Re z*·(cross_sum·s + cross_bridge·y).
struct PixelLaw {
    enum Part : std::uint8_t {
        constant,
        look,
        sum = look + 4,
        difference,
        mode,
        bridge,
        still,
        cross_sum,
        cross_bridge,
        parts
    };
    std::array<std::vector<float>, parts> of; ///< per class; empty: 0
};

/// A random field with its weights in s and d, per class.
struct FieldTerm {
    TorusRow real, imaginary;
    const float* sum = nullptr;
    const float* difference = nullptr;
};

struct LightRow {
    static constexpr int kMost = 512;      ///< columns at a time
    const std::int32_t* classes = nullptr; ///< null: all of class 0
    const PixelLaw* law = nullptr;
    std::array<TorusRow, 4> looks;
    std::vector<FieldTerm> fields;
    std::array<TorusRow, 2> bridge, still; ///< real, imaginary; only read if the law has them
};
/// light[i] = mean[i]·law for i < count ≤ kMost, columns from `x` of the patterns on.
void light_row(const LightRow& row, int x, int count, const float* mean, float* light);

/// Class of each pixel of rate still + flow·(1 + pulse·wave), from the bits of the rate (RateClasses).
struct RateRow {
    const float* still;
    const float* flow;
    const float* pulse;
    float wave;
};
void classify_row(const RateRow& rates, std::int32_t first, std::int32_t last, int shift, int count,
                  std::int32_t* classes);

/// The camera: light in DN → electrons (Poisson) → read noise → DN.
struct CameraRow {
    double gain = 0;   ///< DN per electron; 0: no noise
    double read = 0;   ///< electrons
    double offset = 0; ///< DN
    double full_scale = 0;
    const float* shot_noise = nullptr; ///< normal numbers
    const float* read_noise = nullptr;
    const float* response = nullptr; ///< relative, per pixel; null: 1
    const float* columns = nullptr;  ///< DN added, per column; null: 0
};
/// `to` holds u8 or u16. Rounded and clamped to 0…full_scale.
void record_row(const CameraRow& camera, const float* light, int count, PixelType type, std::byte* to);

} // namespace specklescope
