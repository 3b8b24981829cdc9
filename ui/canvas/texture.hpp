// One image in a texture. It is filled from the host through a pixel buffer, or by CUDA interop through
// id().
#pragma once

#include "pipeline/mapping.hpp"
#include "ui/canvas/gl.hpp"

#include <array>

namespace specklescope {

class ImageTexture {
public:
    /// Allocates a texture for this shape; keeps the contents if the shape is the same. Returns true if the
    /// texture is new (then register it again with CUDA). `four`: adds a fourth channel to colour, as
    /// CUDA-GL interop requires.
    bool prepare(const Shape& shape, bool four = false);
    /// Copies the pixels through a pixel buffer. An image with a side over the driver's limit is thinned.
    void upload(ConstHostView image);
    int uploads() const { return uploads_; } ///< calls of upload()

    GLuint id() const { return texture_.id(); }
    explicit operator bool() const { return static_cast<bool>(texture_); }
    const Shape& shape() const { return shape_; } ///< of the image
    int thinning() const { return step_; }        ///< every n-th pixel is in the texture; 1: all of them
    Shape stored() const;                         ///< shape of the texture
    /// Factor from a normalised texel to the pixel value: 255, 65535 or 1.
    float value_scale() const {
        return shape_.type == PixelType::f32 ? 1.0F : static_cast<float>(type_full_scale(shape_.type));
    }
    /// Reads one pixel back from the texture (waits for the GPU); for the value under the mouse if there are
    /// no host pixels.
    std::array<float, 3> read_pixel(int x, int y) const;
    /// Reads the whole texture into host memory of the same shape; for a snapshot if there are no host
    /// pixels.
    void read_all(HostView to) const;

private:
    gl::Texture texture_;
    gl::Buffer buffer_;
    int uploads_ = 0;
    Shape shape_;
    bool four_ = false;
    int step_ = 1;
};

/// The 256 colours of each map as a 256×1 texture, created on first use.
class ColorTexture {
public:
    GLuint use(ColorMap map);

private:
    static constexpr std::size_t kMaps = static_cast<std::size_t>(ColorMap::rdbu) + 1; ///< the last map
    std::array<gl::Texture, kMaps> textures_;
};

} // namespace specklescope
