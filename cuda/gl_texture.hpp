// Displays a device image without a transfer through the host: one copy into an OpenGL texture per drawn
// frame, or for colour one kernel that adds the fourth channel. Needs neither CUDA nor OpenGL headers. Call
// everything on the thread whose OpenGL context owns the texture, with that context current.
#pragma once

#include "pipeline/frame.hpp"

#include <memory>

namespace specklescope {

/// Registration of one existing GL_TEXTURE_2D: u8 → GL_R8, u16 → GL_R16, f32 → GL_R32F; colour GL_RGBA8,
/// GL_RGBA16, GL_RGBA32F, since interop has no textures with three channels. The caller owns the texture. It
/// must have its storage (glTexImage2D) and keep it while registered: for a new size make a new texture and
/// registration.
class GlTexture {
public:
    /// Throws RunError with the reason if interop is refused: software OpenGL, another GPU than the computing
    /// one, remote X.
    GlTexture(unsigned texture, const Shape& shape);
    ~GlTexture(); ///< unregisters; before glDeleteTextures
    GlTexture(GlTexture&&) noexcept;
    GlTexture& operator=(GlTexture&&) noexcept;

    /// Map, one copy or kernel, unmap. On return the copy is complete and OpenGL owns the texture again, also
    /// after an exception (RunError). The image must have the registered shape and be complete, like
    /// Result::device_image.
    void copy(const Frame& device_image);

    const Shape& shape() const { return shape_; }

private:
    struct Registration;
    std::unique_ptr<Registration> registration_;
    Shape shape_;
};

} // namespace specklescope
