// Shows a device image without a way through the host: one copy into an OpenGL texture per drawn frame, of
// colour one kernel that adds the fourth channel. Needs neither CUDA nor OpenGL headers. All calls on the
// thread whose OpenGL context owns the texture, with that context current.
#pragma once

#include "pipeline/frame.hpp"

#include <memory>

namespace specklescope {

/// Registration of one existing GL_TEXTURE_2D: u8 → GL_R8, u16 → GL_R16, f32 → GL_R32F; of colour GL_RGBA8,
/// GL_RGBA16, GL_RGBA32F, since interop has no textures of three channels. The texture is the caller's; it
/// must have been given its storage (glTexImage2D) before and must not be given another while registered: on
/// a size change make a new texture and a new registration.
class GlTexture {
public:
    /// Throws RunError with the reason where interop is refused: software OpenGL, another GPU than the one
    /// that computes, remote X.
    GlTexture(unsigned texture, const Shape& shape);
    ~GlTexture(); ///< unregisters; before glDeleteTextures
    GlTexture(GlTexture&&) noexcept;
    GlTexture& operator=(GlTexture&&) noexcept;

    /// Map, one copy or kernel, unmap. When it returns that is done and the texture is OpenGL's again, also
    /// when it throws (RunError). The image must have the registered shape and be complete, as
    /// Result::device_image is.
    void copy(const Frame& device_image);

    const Shape& shape() const { return shape_; }

private:
    struct Registration;
    std::unique_ptr<Registration> registration_;
    Shape shape_;
};

} // namespace specklescope
