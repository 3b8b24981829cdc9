// OpenGL 3.3 core as libGL exports it, and owners of its names. With libglvnd every core function is a plain
// symbol, so no loader is needed. Requires the thread that holds the context: the main thread.
#pragma once

#ifndef GL_GLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES
#endif
#include <GL/glcorearb.h>

#include <string>
#include <utility>

namespace specklescope::gl {

/// Move-only owner of one OpenGL name.
template <GLuint (*Make)(), void (*Release)(GLuint)> class Name {
public:
    Name() = default; ///< empty: creates no object before a context exists
    static Name make() {
        Name name;
        name.id_ = Make();
        return name;
    }
    Name(Name&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
    Name& operator=(Name&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    Name(const Name&) = delete;
    Name& operator=(const Name&) = delete;
    ~Name() {
        if (id_)
            Release(id_);
    }
    GLuint id() const { return id_; }
    explicit operator bool() const { return id_ != 0; }

private:
    GLuint id_ = 0;
};

template <void (*Gen)(GLsizei, GLuint*)> GLuint generate() {
    GLuint id = 0;
    Gen(1, &id);
    return id;
}
template <void (*Delete)(GLsizei, const GLuint*)> void remove(GLuint id) { Delete(1, &id); }

using Texture = Name<generate<glGenTextures>, remove<glDeleteTextures>>;
using Buffer = Name<generate<glGenBuffers>, remove<glDeleteBuffers>>;
using Framebuffer = Name<generate<glGenFramebuffers>, remove<glDeleteFramebuffers>>;
using Query = Name<generate<glGenQueries>, remove<glDeleteQueries>>;
using VertexArray = Name<generate<glGenVertexArrays>, remove<glDeleteVertexArrays>>;

inline GLuint create_program() { return glCreateProgram(); }
inline void delete_program(GLuint id) { glDeleteProgram(id); }
using Program = Name<create_program, delete_program>;

/// Throws RunError with the compiler's log.
Program build_program(const char* vertex, const char* fragment);

/// "llvmpipe (LLVM 15.0.6, 256 bits)", "NVIDIA H200/PCIe/SSE2".
std::string renderer();
bool software_renderer();

} // namespace specklescope::gl
