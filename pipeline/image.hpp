// Pixels and views of them. The memory space is part of a view's type: a host pointer cannot reach a kernel.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace specklescope {

enum class PixelType : std::uint8_t { u8, u16, f32 };
enum class Space : std::uint8_t { host, device };

constexpr std::size_t pixel_bytes(PixelType type) {
    return type == PixelType::u8 ? 1 : type == PixelType::u16 ? 2 : 4;
}

/// 255, 65535, or 0 for f32, which has no full scale.
constexpr double type_full_scale(PixelType type) {
    return type == PixelType::u8 ? 255.0 : type == PixelType::u16 ? 65535.0 : 0.0;
}

constexpr const char* to_string(PixelType type) {
    return type == PixelType::u8 ? "u8" : type == PixelType::u16 ? "u16" : "f32";
}

template <class T> constexpr PixelType pixel_type_of() {
    using Value = std::remove_const_t<T>;
    static_assert(std::is_same_v<Value, std::uint8_t> || std::is_same_v<Value, std::uint16_t> ||
                  std::is_same_v<Value, float>);
    return std::is_same_v<Value, std::uint8_t>    ? PixelType::u8
           : std::is_same_v<Value, std::uint16_t> ? PixelType::u16
                                                  : PixelType::f32;
}

/// Size in pixels; colour is interleaved RGB (channels = 3), grey is channels = 1.
struct Shape {
    int width = 0;
    int height = 0;
    int channels = 1;
    PixelType type = PixelType::u8;

    bool operator==(const Shape&) const = default;
    std::size_t row_bytes() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels) * pixel_bytes(type);
    }
    std::size_t bytes() const { return row_bytes() * static_cast<std::size_t>(height); }
    std::size_t samples() const { return pixels() * static_cast<std::size_t>(channels); }
    std::size_t pixels() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

/// "1392x1040 u16" or "640x480 u8 RGB".
std::string to_string(const Shape& shape);

/// Largest width and height; a header with a larger size is refused before any allocation.
inline constexpr int kMaxSide = 65536;
inline constexpr std::size_t kMaxImageBytes = std::size_t{4} << 30;

/// Throws RunError naming `what` if the shape has a zero side, a side over kMaxSide or more than
/// kMaxImageBytes.
void check_shape(const Shape& shape, const std::string& what);

/// Typed view of rows `pitch` bytes apart. T may be const.
template <class T, Space S = Space::host> struct View {
    T* data = nullptr;
    int width = 0;
    int height = 0;
    int channels = 1;
    std::size_t pitch = 0;

    T* row(int y) const {
        using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
        return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + static_cast<std::size_t>(y) * pitch);
    }
};

/// View whose pixel type is known only at run time. `Byte` is std::byte or const std::byte.
template <Space S, class Byte> struct BasicImageView {
    Byte* data = nullptr;
    Shape shape;
    std::size_t pitch = 0;

    BasicImageView() = default;
    BasicImageView(Byte* pixels, const Shape& size, std::size_t row_pitch)
        : data(pixels), shape(size), pitch(row_pitch) {}
    BasicImageView(Byte* pixels, const Shape& size) : BasicImageView(pixels, size, size.row_bytes()) {}
    /// A mutable view is also a constant one.
    template <class Other>
        requires(std::is_const_v<Byte>&& std::is_same_v<Other, std::byte>)
    BasicImageView(const BasicImageView<S, Other>& other) // NOLINT(google-explicit-constructor)
        : BasicImageView(other.data, other.shape, other.pitch) {}

    explicit operator bool() const { return data != nullptr; }
    Byte* row(int y) const { return data + static_cast<std::size_t>(y) * pitch; }

    template <class T> auto as() const {
        using Pixel = std::conditional_t<std::is_const_v<Byte>, const T, T>;
        assert(shape.type == pixel_type_of<T>());
        return View<Pixel, S>{reinterpret_cast<Pixel*>(data), shape.width, shape.height, shape.channels,
                              pitch};
    }
};

template <Space S> using ImageView = BasicImageView<S, std::byte>;
template <Space S> using ConstImageView = BasicImageView<S, const std::byte>;
using HostView = ImageView<Space::host>;
using ConstHostView = ConstImageView<Space::host>;
using DeviceView = ImageView<Space::device>;
using ConstDeviceView = ConstImageView<Space::device>;

/// Calls f with a value of the pixel type: dispatch(type, [](auto zero) { using T = decltype(zero); … }).
template <class F> decltype(auto) dispatch(PixelType type, F&& f) {
    switch (type) {
    case PixelType::u8:
        return f(std::uint8_t{});
    case PixelType::u16:
        return f(std::uint16_t{});
    case PixelType::f32:
        break;
    }
    return f(float{});
}

/// Copies pixels row by row; both views must have the same shape.
void copy_pixels(ConstHostView from, HostView to);

} // namespace specklescope
