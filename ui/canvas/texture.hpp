// One image in a texture: filled from the host through a pixel buffer, or by whoever writes to id() (CUDA
// interop).
#pragma once

#include "pipeline/mapping.hpp"
#include "ui/canvas/gl.hpp"

#include <array>

namespace specklescope {

class ImageTexture {
public:
    /// Makes room for this shape; keeps what is there when the shape is the same. True if the texture is a
    /// new one (whoever registered the old one must register again). `four`: colour gets a fourth channel, as
    /// CUDA-GL interop wants it.
    bool prepare(const Shape& shape, bool four = false);
    /// Copies the pixels through a pixel buffer. An image with a side over the driver's limit is thinned to
    /// fit.
    void upload(ConstHostView image);

    GLuint id() const { return texture_.id(); }
    explicit operator bool() const { return static_cast<bool>(texture_); }
    const Shape& shape() const { return shape_; } ///< of the image
    int thinning() const { return step_; }        ///< every n-th pixel is in the texture; 1: all of them
    Shape stored() const;                         ///< of the texture
    /// What a normalised texel is multiplied by to give the pixel value: 255, 65535 or 1.
    float value_scale() const {
        return shape_.type == PixelType::f32 ? 1.0F : static_cast<float>(type_full_scale(shape_.type));
    }
    /// One pixel read back from the texture (waits for the GPU): for the value under the mouse where no host
    /// pixels are.
    std::array<float, 3> read_pixel(int x, int y) const;
    /// The whole texture into host memory of the same shape: for a snapshot where no host pixels are.
    void read_all(HostView to) const;

private:
    gl::Texture texture_;
    gl::Buffer buffer_;
    Shape shape_;
    bool four_ = false;
    int step_ = 1;
};

/// The 256 colours of each map as a 256×1 texture, made when it is first used.
class ColorTexture {
public:
    GLuint use(ColorMap map);

private:
    static constexpr std::size_t kMaps = static_cast<std::size_t>(ColorMap::rdbu) + 1; ///< it is the last
    std::array<gl::Texture, kMaps> textures_;
};

} // namespace specklescope
