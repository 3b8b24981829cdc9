#include "ui/view.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

constexpr const char* kVertex = R"(#version 330 core
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
)";

// NaN is told by its bits: a compiler may take it that isnan() is never true. Where the picture is made smaller, up to
// 4×4 places of the pixel's footprint are averaged after the range was applied, undefined ones left out.
constexpr const char* kFragment = R"(#version 330 core
uniform sampler2D picture;
uniform sampler2D colors;
uniform float window;       // framebuffer height
uniform vec2 origin;        // of the image, framebuffer pixels from the top left
uniform float scale;        // framebuffer pixels per image pixel
uniform ivec2 size;         // of the image
uniform int step;           // texels hold every step-th pixel
uniform float value_scale;
uniform vec2 range;
uniform bool colour;
uniform float saturated;    // 0: off
out vec4 result;

const vec3 undefined_color = vec3(90.0, 90.0, 90.0) / 255.0;

bool is_nan(float v) { return (floatBitsToUint(v) & 0x7fffffffu) > 0x7f800000u; }

void main() {
    vec2 at = (vec2(gl_FragCoord.x, window - gl_FragCoord.y) - origin) / scale;
    if (at.x < 0.0 || at.y < 0.0 || at.x >= float(size.x) || at.y >= float(size.y)) discard;
    float footprint = 1.0 / scale;
    int n = clamp(int(ceil(footprint - 0.01)), 1, 4);
    vec3 sum = vec3(0.0);
    float count = 0.0;
    bool full = false;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            vec2 p = n == 1 ? at : at + footprint * ((vec2(i, j) + 0.5) / float(n) - 0.5);
            ivec2 texel = clamp(ivec2(floor(p)), ivec2(0), size - 1) / step;
            vec3 v = texelFetch(picture, texel, 0).rgb;
            if (value_scale > 1.0) v = floor(v * value_scale + 0.5);
            if (!colour) v = v.rrr;
            if (is_nan(v.r) || is_nan(v.g) || is_nan(v.b)) continue;
            full = full || (saturated > 0.0 && max(v.r, max(v.g, v.b)) >= saturated);
            sum += clamp((v - range.x) / (range.y - range.x), 0.0, 1.0);
            count += 1.0;
        }
    if (full) { result = vec4(1.0, 0.15, 0.1, 1.0); return; }
    if (count == 0.0) { result = vec4(undefined_color, 1.0); return; }
    vec3 index = clamp(floor(sum / count * 256.0), 0.0, 255.0);
    result = colour ? vec4(index / 255.0, 1.0) : vec4(texelFetch(colors, ivec2(int(index.r), 0), 0).rgb, 1.0);
}
)";

constexpr double kLargestScale = 64;

double fit_scale(const Rect& canvas, const Shape& image) {
    return std::min(canvas.width / std::max(image.width, 1), canvas.height / std::max(image.height, 1));
}

} // namespace

Camera::Placement Camera::place(const Rect& canvas, const Shape& image) const {
    const double scale = fitted_ ? fit_scale(canvas, image) : scale_;
    const double cx = fitted_ ? 0.5 : centre_x_, cy = fitted_ ? 0.5 : centre_y_;
    return {canvas.x + canvas.width / 2 - cx * image.width * scale,
            canvas.y + canvas.height / 2 - cy * image.height * scale, scale};
}

void Camera::zoom(const Rect& canvas, const Shape& image, double x, double y, double factor) {
    const double fit = fit_scale(canvas, image);
    const Placement before = place(canvas, image);
    const double scale = std::clamp(before.scale * factor, std::min(fit, 1.0) * 0.5, std::max(kLargestScale, fit * 4));
    const double ix = (x - before.x) / before.scale, iy = (y - before.y) / before.scale;
    fitted_ = false;
    scale_ = scale;
    centre_x_ = std::clamp((ix + (canvas.x + canvas.width / 2 - x) / scale) / image.width, 0.0, 1.0);
    centre_y_ = std::clamp((iy + (canvas.y + canvas.height / 2 - y) / scale) / image.height, 0.0, 1.0);
}

void Camera::pan(const Rect& canvas, const Shape& image, double dx, double dy) {
    if (fitted_) {
        scale_ = fit_scale(canvas, image);
        centre_x_ = centre_y_ = 0.5;
        fitted_ = false;
    }
    centre_x_ = std::clamp(centre_x_ - dx / scale_ / image.width, 0.0, 1.0);
    centre_y_ = std::clamp(centre_y_ - dy / scale_ / image.height, 0.0, 1.0);
}

PictureShader::PictureShader() : program_(gl::build_program(kVertex, kFragment)), quad_(gl::VertexArray::make()) {
    const auto at = [this](const char* name) { return glGetUniformLocation(program_.id(), name); };
    window_ = at("window");
    origin_ = at("origin");
    scale_ = at("scale");
    size_ = at("size");
    step_ = at("step");
    value_scale_ = at("value_scale");
    range_ = at("range");
    colour_ = at("colour");
    saturated_ = at("saturated");
    glUseProgram(program_.id());
    glUniform1i(at("picture"), 0);
    glUniform1i(at("colors"), 1);
}

void PictureShader::draw(const ImageTexture& texture, const PictureStyle& style, const Rect& canvas,
                         const Camera::Placement& placement, double ratio) {
    GLint viewport[4];
    glGetIntegerv(GL_VIEWPORT, viewport);
    const Shape& shape = texture.shape();
    const auto pixel = [&](double v) { return static_cast<GLint>(std::lround(v * ratio)); };
    // Only what is seen of the picture is drawn: on a software renderer every fragment counts.
    const double left = std::max(canvas.x, placement.x), top = std::max(canvas.y, placement.y);
    const double right = std::min(canvas.x + canvas.width, placement.x + shape.width * placement.scale);
    const double bottom = std::min(canvas.y + canvas.height, placement.y + shape.height * placement.scale);
    if (right <= left || bottom <= top)
        return;
    glEnable(GL_SCISSOR_TEST);
    glScissor(pixel(left), viewport[3] - pixel(bottom), pixel(right) - pixel(left), pixel(bottom) - pixel(top));
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, colors_.use(style.map));
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture.id());
    glUseProgram(program_.id());
    glUniform1f(window_, static_cast<float>(viewport[3]));
    glUniform2f(origin_, static_cast<float>(placement.x * ratio), static_cast<float>(placement.y * ratio));
    glUniform1f(scale_, static_cast<float>(placement.scale * ratio));
    glUniform2i(size_, shape.width, shape.height);
    glUniform1i(step_, texture.thinning());
    glUniform1f(value_scale_, texture.value_scale());
    glUniform2f(range_, static_cast<float>(style.range.low), static_cast<float>(style.range.high));
    glUniform1i(colour_, shape.channels == 3);
    glUniform1f(saturated_, static_cast<float>(style.saturated));
    glBindVertexArray(quad_.id());
    glDisable(GL_BLEND);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    glDisable(GL_SCISSOR_TEST);
}

SampleReader::SampleReader()
    : texture_(gl::Texture::make()), source_(gl::Framebuffer::make()), target_(gl::Framebuffer::make()),
      buffer_(gl::Buffer::make()) {
    glBindTexture(GL_TEXTURE_2D, texture_.id());
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, kSide, kSide, 0, GL_RED, GL_FLOAT, nullptr);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target_.id());
    glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_.id(), 0);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer_.id());
    glBufferData(GL_PIXEL_PACK_BUFFER, kSide * kSide * static_cast<GLsizeiptr>(sizeof(float)), nullptr, GL_STREAM_READ);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

void SampleReader::start(const ImageTexture& texture) {
    if (fence_)
        return;
    const Shape size = texture.stored();
    scale_ = texture.value_scale();
    glBindFramebuffer(GL_READ_FRAMEBUFFER, source_.id());
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture.id(), 0);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target_.id());
    glBlitFramebuffer(0, 0, size.width, size.height, 0, 0, kSide, kSide, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target_.id());
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer_.id());
    glReadPixels(0, 0, kSide, kSide, GL_RED, GL_FLOAT, nullptr);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    fence_ = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

std::vector<float> SampleReader::finish() {
    if (!fence_ || glClientWaitSync(fence_, GL_SYNC_FLUSH_COMMANDS_BIT, 0) == GL_TIMEOUT_EXPIRED)
        return {};
    glDeleteSync(fence_);
    fence_ = nullptr;
    std::vector<float> sample;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer_.id());
    if (const void* data = glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, kSide * kSide * static_cast<GLsizeiptr>(sizeof(float)),
                                            GL_MAP_READ_BIT)) {
        sample.assign(static_cast<const float*>(data), static_cast<const float*>(data) + kSide * kSide);
        glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
    }
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    for (float& value : sample)
        value *= scale_;
    return sample;
}

} // namespace specklescope
