#include "ui/canvas/view.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace specklescope {

namespace {

constexpr const char* kVertex = R"(#version 330 core
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}
)";

// The shader tests the bits for NaN, because a compiler may assume that isnan() is always false. For a
// reduced image it averages SAMPLES × SAMPLES points of the screen pixel's footprint after applying the
// range, without undefined points. SAMPLES and COLOUR are compile-time constants: loops in a fragment are
// slow on a software renderer.
constexpr const char* kFragment = R"(
uniform sampler2D picture;
uniform sampler2D colors;
uniform float window;       // framebuffer height
uniform vec2 origin;        // of the image, framebuffer pixels from the top left
uniform float pixel;        // image pixels per framebuffer pixel
uniform ivec2 last;         // last texel
uniform float step;         // texels hold every step-th pixel
uniform float value_scale;
uniform float prescale;     // of values and range, so that their differences are neither infinite nor lost
uniform vec2 range;         // times prescale
uniform int curve;          // ToneCurve
uniform float saturated;    // 0: off
uniform float opacity;      // of what is not below the threshold
uniform float threshold;    // in colours, 0…256
out vec4 result;

const vec3 undefined_color = UNDEFINED, infinite_color = INFINITE, saturated_color = SATURATED;

vec3 sum = vec3(0.0);
float count = 0.0;
float peak = 0.0;
bool infinite = false;

bool is_infinite(float v) { return (floatBitsToUint(v) & 0x7fffffffu) == 0x7f800000u; }
bool is_nan(float v) { return (floatBitsToUint(v) & 0x7fffffffu) > 0x7f800000u; }

vec3 encode(vec3 light) {
    return mix(1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055, light * 12.92, lessThanEqual(light, vec3(0.0031308)));
}

// What lies far above the range must not become infinite / infinite.
vec3 tone(vec3 t) {
    t = clamp(t, 0.0, 1e15);
    if (curve == SRGB) return encode(min(t, 1.0));
    if (curve == REINHARD) return encode(t / (1.0 + t));
    if (curve == FILMIC) return encode(min(t * (2.51 * t + 0.03) / (t * (2.43 * t + 0.59) + 0.14), 1.0));
    return min(t, 1.0);
}

void take(vec2 at) {
    vec3 v = texelFetch(picture, clamp(ivec2(at / step), ivec2(0), last), 0).rgb;
    if (value_scale > 1.0) v = floor(v * value_scale + 0.5);
    if (!COLOUR) v = v.rrr;
    if (is_nan(v.r) || is_nan(v.g) || is_nan(v.b)) return;
    if (!COLOUR && is_infinite(v.r)) {
        infinite = true;
        return;
    }
    peak = max(peak, max(v.r, max(v.g, v.b)));
    sum += tone((v * prescale - range.x) / (range.y - range.x));
    count += 1.0;
}

void main() {
    vec2 at = (vec2(gl_FragCoord.x, window - gl_FragCoord.y) - origin) * pixel;
    if (SAMPLES == 1) {
        take(at);
    } else {
        for (int j = 0; j < SAMPLES; ++j)
            for (int i = 0; i < SAMPLES; ++i)
                take(at + pixel * ((vec2(i, j) + 0.5) / float(SAMPLES) - 0.5));
    }
    vec3 index = clamp(floor(sum / max(count, 1.0) * 256.0), 0.0, 255.0);
    vec3 color = COLOUR ? index / 255.0 : texelFetch(colors, ivec2(int(index.r), 0), 0).rgb;
    float alpha = opacity;
    if (!COLOUR && index.r < threshold) alpha = 0.0;
    if (count == 0.0) {
        color = undefined_color;
        alpha = threshold >= 0.0 ? 0.0 : opacity;
    }
    if (infinite) {
        color = infinite_color;
        alpha = opacity;
    }
    if (saturated > 0.0 && peak >= saturated) color = saturated_color;
    result = vec4(color, alpha);
}
)";

std::string color_define(const char* name, const Rgb& color) {
    std::string text = std::string("\n#define ") + name + " (vec3(";
    for (std::size_t c = 0; c < 3; ++c)
        text += (c ? ", " : "") + std::to_string(color[c]) + ".0";
    return text + ") / 255.0)";
}

std::string curve_define(const char* name, ToneCurve curve) {
    return std::string("\n#define ") + name + " " + std::to_string(static_cast<int>(curve));
}

/// Power of two, so that scaling is exact; 1 except near the limits of float.
double prescale(const ValueRange& range) {
    const double size = std::max(std::abs(range.low), std::abs(range.high));
    return size > 0x1p124 ? 0x1p-8 : size < 0x1p-80 ? 0x1p80 : 1;
}

constexpr double kLargestScale = 128;

double fit_scale(const Rect& canvas, const Shape& image) {
    return std::min(canvas.width / std::max(image.width, 1), canvas.height / std::max(image.height, 1));
}

} // namespace

std::size_t most_covered(const std::vector<Rect>& places, const Rect& what) {
    std::size_t best = 0;
    double most = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Rect& p = places[i];
        const double width = std::min(p.x + p.width, what.x + what.width) - std::max(p.x, what.x);
        const double height = std::min(p.y + p.height, what.y + what.height) - std::max(p.y, what.y);
        if (width > 0 && height > 0 && width * height > most) {
            most = width * height;
            best = i;
        }
    }
    return best;
}

Camera::Placement Camera::place(const Rect& canvas, const Shape& image) const {
    const double scale = fitted_ ? fit_scale(canvas, image) : scale_;
    const double cx = fitted_ ? 0.5 : centre_x_, cy = fitted_ ? 0.5 : centre_y_;
    return {canvas.x + canvas.width / 2 - cx * image.width * scale,
            canvas.y + canvas.height / 2 - cy * image.height * scale, scale};
}

void Camera::zoom(const Rect& canvas, const Shape& image, double x, double y, double factor) {
    const double fit = fit_scale(canvas, image);
    const Placement before = place(canvas, image);
    const double scale =
        std::clamp(before.scale * factor, std::min(fit, 1.0) * 0.5, std::max(kLargestScale, fit * 4));
    const double ix = (x - before.x) / before.scale, iy = (y - before.y) / before.scale;
    fitted_ = false;
    scale_ = scale;
    centre_x_ = std::clamp((ix + (canvas.x + canvas.width / 2 - x) / scale) / image.width, 0.0, 1.0);
    centre_y_ = std::clamp((iy + (canvas.y + canvas.height / 2 - y) / scale) / image.height, 0.0, 1.0);
}

void Camera::set_scale(const Rect& canvas, const Shape& image, double scale) {
    zoom(canvas, image, canvas.x + canvas.width / 2, canvas.y + canvas.height / 2,
         scale / place(canvas, image).scale);
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

PictureShader::PictureShader() : quad_(gl::VertexArray::make()), software_(gl::software_renderer()) {}

PictureShader::Variant& PictureShader::variant(int samples, bool colour) {
    Variant& made = variants_[{samples, colour}];
    if (made.program)
        return made;
    const std::string head =
        "#version 330 core\n#define SAMPLES " + std::to_string(samples) + "\n#define COLOUR " +
        (colour ? "true" : "false") + curve_define("SRGB", ToneCurve::srgb) +
        curve_define("REINHARD", ToneCurve::reinhard) + curve_define("FILMIC", ToneCurve::filmic) +
        color_define("UNDEFINED", kUndefinedColor) + color_define("INFINITE", kInfiniteColor) +
        color_define("SATURATED", kSaturatedColor) + "\n";
    made.program = gl::build_program(kVertex, (head + kFragment).c_str());
    const auto at = [&made](const char* name) { return glGetUniformLocation(made.program.id(), name); };
    made.window = at("window");
    made.origin = at("origin");
    made.pixel = at("pixel");
    made.last = at("last");
    made.step = at("step");
    made.value_scale = at("value_scale");
    made.prescale = at("prescale");
    made.range = at("range");
    made.curve = at("curve");
    made.saturated = at("saturated");
    made.opacity = at("opacity");
    made.threshold = at("threshold");
    glUseProgram(made.program.id());
    glUniform1i(at("picture"), 0);
    glUniform1i(at("colors"), 1);
    return made;
}

int PictureShader::samples(double footprint) const {
    if (software_) // fragments are expensive there; a reduction is visible below half size
        return footprint < 1.9 ? 1 : 2;
    return footprint < 1.01 ? 1 : footprint < 2.01 ? 2 : 4;
}

void PictureShader::draw(const ImageTexture& texture, const PictureStyle& style, const Rect& canvas,
                         const Camera::Placement& placement, double ratio) {
    GLint viewport[4];
    glGetIntegerv(GL_VIEWPORT, viewport);
    const Shape& shape = texture.shape();
    const auto pixel = [&](double v) { return static_cast<GLint>(std::lround(v * ratio)); };
    // Draw only the visible part of the picture: fragments are expensive on a software renderer.
    const double left = std::max(canvas.x, placement.x), top = std::max(canvas.y, placement.y);
    const double right = std::min(canvas.x + canvas.width, placement.x + shape.width * placement.scale);
    const double bottom = std::min(canvas.y + canvas.height, placement.y + shape.height * placement.scale);
    if (right <= left || bottom <= top)
        return;
    glEnable(GL_SCISSOR_TEST);
    // A strip thinner than a screen pixel gets one pixel, unless the canvas cuts it.
    const bool whole_wide = left == placement.x && right < canvas.x + canvas.width,
               whole_high = top == placement.y && bottom < canvas.y + canvas.height;
    const GLint wide = std::max(pixel(right) - pixel(left), whole_wide ? 1 : 0);
    const GLint high = std::max(pixel(bottom) - pixel(top), whole_high ? 1 : 0);
    glScissor(pixel(left), viewport[3] - pixel(top) - high, wide, high);
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, colors_.use(style.map));
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture.id());
    const double footprint = 1 / (placement.scale * ratio);
    const Variant& v = variant(samples(footprint), shape.channels == 3);
    const Shape stored = texture.stored();
    glUseProgram(v.program.id());
    glUniform1f(v.window, static_cast<float>(viewport[3]));
    glUniform2f(v.origin, static_cast<float>(placement.x * ratio), static_cast<float>(placement.y * ratio));
    glUniform1f(v.pixel, static_cast<float>(footprint));
    glUniform2i(v.last, stored.width - 1, stored.height - 1);
    glUniform1f(v.step, static_cast<float>(texture.thinning()));
    glUniform1f(v.value_scale, texture.value_scale());
    const double scale = prescale(style.range);
    glUniform1f(v.prescale, static_cast<float>(scale));
    glUniform2f(v.range, static_cast<float>(style.range.low * scale),
                static_cast<float>(style.range.high * scale));
    glUniform1i(v.curve, static_cast<GLint>(style.curve));
    glUniform1f(v.saturated, static_cast<float>(style.saturated));
    glUniform1f(v.opacity, style.blend ? static_cast<float>(style.blend->opacity) : 1.0F);
    glUniform1f(v.threshold, style.blend ? static_cast<float>(style.blend->first_index()) : -1.0F);
    glBindVertexArray(quad_.id());
    if (style.blend) {
        glEnable(GL_BLEND);
        glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    } else {
        glDisable(GL_BLEND);
    }
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    glDisable(GL_BLEND);
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
    glBufferData(GL_PIXEL_PACK_BUFFER, kSide * kSide * static_cast<GLsizeiptr>(sizeof(float)), nullptr,
                 GL_STREAM_READ);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

void SampleReader::forget() {
    if (fence_)
        glDeleteSync(fence_);
    fence_ = nullptr;
}

bool SampleReader::start(const ImageTexture& texture) {
    if (fence_)
        return false;
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
    return true;
}

std::vector<float> SampleReader::finish() {
    if (!fence_ || glClientWaitSync(fence_, GL_SYNC_FLUSH_COMMANDS_BIT, 0) == GL_TIMEOUT_EXPIRED)
        return {};
    glDeleteSync(fence_);
    fence_ = nullptr;
    std::vector<float> sample;
    glBindBuffer(GL_PIXEL_PACK_BUFFER, buffer_.id());
    if (const void* data =
            glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, kSide * kSide * static_cast<GLsizeiptr>(sizeof(float)),
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
