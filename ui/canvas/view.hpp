// Draws the picture: one quad, one shader. Range, colour map, zoom and the mark of saturated pixels are
// applied here and never change the data. The mapping equals map_colors (pipeline/mapping.hpp);
// tests/ui/viewer_test.cpp compares the two.
#pragma once

#include "pipeline/mapping.hpp"
#include "ui/canvas/texture.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace specklescope {

/// Rectangle in window coordinates, y down.
struct Rect {
    double x = 0, y = 0, width = 0, height = 0;
    bool contains(double px, double py) const {
        return px >= x && py >= y && px < x + width && py < y + height;
    }
};

/// Index of the place that covers the largest part of `what`; the first of equals. Requires at least one
/// place.
std::size_t most_covered(const std::vector<Rect>& places, const Rect& what);

/// Visible part of the image; shared by the raw and the processed picture.
class Camera {
public:
    /// Screen pixels per image pixel, and the position of the image's top left corner within `canvas`.
    struct Placement {
        double x = 0, y = 0, scale = 1;
    };
    Placement place(const Rect& canvas, const Shape& image) const;
    void fit() { fitted_ = true; }
    bool fitted() const { return fitted_; }
    /// Sets the screen pixels per image pixel; the centre stays in place.
    void set_scale(const Rect& canvas, const Shape& image, double scale);
    /// Zooms; the image point under (x, y) stays in place.
    void zoom(const Rect& canvas, const Shape& image, double x, double y, double factor);
    void pan(const Rect& canvas, const Shape& image, double dx, double dy);

private:
    bool fitted_ = true;
    double scale_ = 1;
    double centre_x_ = 0.5, centre_y_ = 0.5; ///< as fractions of the image, so that its size may change
};

struct PictureStyle {
    ColorMap map = ColorMap::turbo;
    ValueRange range;
    ToneCurve curve = ToneCurve::linear; ///< never automatic
    double saturated = 0;                ///< pixels of at least this value turn kSaturatedColor; 0: off
    /// Drawn over the existing contents.
    std::optional<Blend> blend{};
};

class PictureShader {
public:
    PictureShader();
    /// Draws into the part of the framebuffer under `canvas`. `ratio`: framebuffer pixels per window
    /// coordinate.
    void draw(const ImageTexture& texture, const PictureStyle& style, const Rect& canvas,
              const Camera::Placement& placement, double ratio);
    GLuint colors(ColorMap map) { return colors_.use(map); }

private:
    struct Variant {
        gl::Program program;
        GLint window = 0, origin = 0, pixel = 0, last = 0, step = 0, value_scale = 0, prescale = 0, range = 0,
              curve = 0, saturated = 0, opacity = 0, threshold = 0;
    };
    Variant& variant(int samples, bool colour);
    int samples(double footprint) const;
    std::map<std::pair<int, bool>, Variant> variants_; ///< built on first use
    gl::VertexArray quad_;                             ///< empty: the vertex shader computes the corners
    ColorTexture colors_;
    bool software_;
};

/// Reads a 256×256 sample of a texture without waiting; for the automatic range if there are no host pixels.
class SampleReader {
public:
    SampleReader();
    /// Starts a read. Returns false and does nothing while a read is in progress.
    bool start(const ImageTexture& texture);
    /// Discards the read in progress.
    void forget();
    /// Returns the sample when the read is complete; empty otherwise.
    std::vector<float> finish();

private:
    static constexpr int kSide = 256;
    gl::Texture texture_;
    gl::Framebuffer source_, target_;
    gl::Buffer buffer_;
    GLsync fence_ = nullptr;
    float scale_ = 1;
};

} // namespace specklescope
