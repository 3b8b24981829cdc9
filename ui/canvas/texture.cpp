#include "ui/canvas/texture.hpp"

#include <algorithm>
#include <cstring>

namespace specklescope {

namespace {

struct Format {
    GLint internal;
    GLenum format, type;
};

Format format_of(const Shape& shape) {
    const bool colour = shape.channels == 3;
    const GLenum format = colour ? GL_RGB : GL_RED;
    switch (shape.type) {
    case PixelType::u8:
        return {colour ? GL_RGB8 : GL_R8, format, GL_UNSIGNED_BYTE};
    case PixelType::u16:
        return {colour ? GL_RGB16 : GL_R16, format, GL_UNSIGNED_SHORT};
    case PixelType::f32:
        break;
    }
    return {colour ? GL_RGB32F : GL_R32F, format, GL_FLOAT};
}

/// Copies every `step`-th pixel of every `step`-th row, without padding.
void pack(ConstHostView from, int step, const Shape& stored, std::byte* to) {
    const std::size_t pixel = pixel_bytes(from.shape.type) * static_cast<std::size_t>(from.shape.channels);
    for (int y = 0; y < stored.height; ++y, to += stored.row_bytes()) {
        const std::byte* row = from.row(y * step);
        if (step == 1) {
            std::memcpy(to, row, stored.row_bytes());
            continue;
        }
        for (int x = 0; x < stored.width; ++x)
            std::memcpy(to + static_cast<std::size_t>(x) * pixel,
                        row + static_cast<std::size_t>(x * step) * pixel, pixel);
    }
}

} // namespace

Shape ImageTexture::stored() const {
    return {(shape_.width + step_ - 1) / step_, (shape_.height + step_ - 1) / step_, shape_.channels,
            shape_.type};
}

bool ImageTexture::prepare(const Shape& shape, bool four) {
    if (texture_ && shape == shape_ && four == four_)
        return false;
    GLint limit = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &limit);
    shape_ = shape;
    four_ = four;
    step_ = std::max(1, (std::max(shape.width, shape.height) + limit - 1) / std::max(limit, 1));
    texture_ = gl::Texture::make();
    buffer_ = gl::Buffer::make();
    Format format = format_of(shape);
    if (four && shape.channels == 3)
        format.internal = shape.type == PixelType::u8    ? GL_RGBA8
                          : shape.type == PixelType::u16 ? GL_RGBA16
                                                         : GL_RGBA32F;
    const Shape size = stored();
    glBindTexture(GL_TEXTURE_2D, texture_.id());
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
    for (const GLenum side : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
        glTexParameteri(GL_TEXTURE_2D, side, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, format.internal, size.width, size.height, 0, format.format, format.type,
                 nullptr);
    return true;
}

void ImageTexture::upload(ConstHostView image) {
    prepare(image.shape);
    ++uploads_;
    const Shape size = stored();
    const Format format = format_of(size);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer_.id());
    // Allocate new storage each time: the driver may still be copying from the old one.
    glBufferData(GL_PIXEL_UNPACK_BUFFER, static_cast<GLsizeiptr>(size.bytes()), nullptr, GL_STREAM_DRAW);
    void* room = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, static_cast<GLsizeiptr>(size.bytes()),
                                  GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (room) {
        pack(image, step_, size, static_cast<std::byte*>(room));
        glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
        glBindTexture(GL_TEXTURE_2D, texture_.id());
        glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, size.width, size.height, format.format, format.type, nullptr);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

std::array<float, 3> ImageTexture::read_pixel(int x, int y) const {
    std::array<float, 3> value{};
    const gl::Framebuffer target = gl::Framebuffer::make();
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target.id());
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_.id(), 0);
    glReadPixels(x / step_, y / step_, 1, 1, GL_RGB, GL_FLOAT, value.data());
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    for (float& channel : value)
        channel *= value_scale();
    return value;
}

void ImageTexture::read_all(HostView to) const {
    const Format format = format_of(shape_);
    const std::size_t pixel = pixel_bytes(shape_.type) * static_cast<std::size_t>(shape_.channels);
    glBindTexture(GL_TEXTURE_2D, texture_.id());
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    if (step_ != 1 || to.shape != shape_ || to.pitch % pixel != 0)
        return; // thinned: not the requested image
    glPixelStorei(GL_PACK_ROW_LENGTH, static_cast<GLint>(to.pitch / pixel));
    glGetTexImage(GL_TEXTURE_2D, 0, format.format, format.type, to.data);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
}

GLuint ColorTexture::use(ColorMap map) {
    gl::Texture& texture = textures_[static_cast<std::size_t>(map)];
    if (texture)
        return texture.id();
    texture = gl::Texture::make();
    glBindTexture(GL_TEXTURE_2D, texture.id());
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
    for (const GLenum side : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
        glTexParameteri(GL_TEXTURE_2D, side, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, 1, 0, GL_RGB, GL_UNSIGNED_BYTE, color_table(map).data());
    return texture.id();
}

} // namespace specklescope
