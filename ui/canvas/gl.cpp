#include "ui/canvas/gl.hpp"

#include "base/error.hpp"

#include <array>

namespace specklescope::gl {

namespace {

GLuint compile(GLenum kind, const char* text) {
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    GLint good = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (good)
        return shader;
    std::array<char, 1024> log{};
    glGetShaderInfoLog(shader, static_cast<GLsizei>(log.size()), nullptr, log.data());
    glDeleteShader(shader);
    throw RunError(std::string("The graphics driver refused a shader of the viewer: ") + log.data());
}

} // namespace

Program build_program(const char* vertex, const char* fragment) {
    Program program = Program::make();
    for (const auto& [kind, text] :
         {std::pair{GL_VERTEX_SHADER, vertex}, std::pair{GL_FRAGMENT_SHADER, fragment}}) {
        const GLuint shader = compile(static_cast<GLenum>(kind), text);
        glAttachShader(program.id(), shader);
        glDeleteShader(shader); // stays alive as part of the program
    }
    glLinkProgram(program.id());
    GLint good = 0;
    glGetProgramiv(program.id(), GL_LINK_STATUS, &good);
    if (!good)
        throw RunError("The graphics driver could not link a shader of the viewer; try a newer driver.");
    return program;
}

std::string renderer() {
    const GLubyte* text = glGetString(GL_RENDERER);
    return text ? reinterpret_cast<const char*>(text) : "unknown";
}

bool software_renderer() {
    const std::string name = renderer();
    return name.find("llvmpipe") != std::string::npos || name.find("softpipe") != std::string::npos ||
           name.find("SWR") != std::string::npos;
}

} // namespace specklescope::gl
