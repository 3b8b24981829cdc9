#include "cuda/convert.hpp"

#include "cuda/chunks.cuh"
#include "cuda/device.hpp"
#include "pipeline/convert.hpp"

namespace specklescope::cuda {

namespace {

template <class From, class To> __global__ void convert_kernel(View<const From, Space::device> from,
                                                               View<To, Space::device> to, bool to_grey,
                                                               GreyChannel channel) {
    const int values = to.width * to.channels;
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= values)
        return;
    for (int y = static_cast<int>(blockIdx.y); y < to.height; y += static_cast<int>(gridDim.y)) {
        const From* in = row_of(from, y);
        if (to_grey)
            row_of(to, y)[x] = grey_of<To>(in + 3 * x, channel);
        else
            row_of(to, y)[x] = static_cast<To>(in[x]);
    }
}

template <class From, class To>
void launch(ConstDeviceView from, DeviceView to, GreyChannel channel, cudaStream_t stream) {
    constexpr unsigned kThreads = 256;
    const unsigned values = static_cast<unsigned>(to.shape.width) * static_cast<unsigned>(to.shape.channels);
    const dim3 blocks((values + kThreads - 1) / kThreads,
                      static_cast<unsigned>(to.shape.height < 65535 ? to.shape.height : 65535));
    convert_kernel<From, To><<<blocks, kThreads, 0, stream>>>(
        from.as<From>(), to.as<To>(), from.shape.channels == 3 && to.shape.channels == 1, channel);
    check_launch("the conversion kernel");
}

} // namespace

void convert(ConstDeviceView from, DeviceView to, GreyChannel channel, cudaStream_t stream) {
    dispatch(from.shape.type, [&](auto zero) {
        using From = decltype(zero);
        if (to.shape.type == from.shape.type)
            launch<From, From>(from, to, channel, stream);
        else
            launch<From, float>(from, to, channel, stream);
    });
}

namespace {

template <class T> struct Texel;
template <> struct Texel<std::uint8_t> {
    using Type = uchar4;
    static constexpr std::uint8_t kOpaque = 255;
};
template <> struct Texel<std::uint16_t> {
    using Type = ushort4;
    static constexpr std::uint16_t kOpaque = 65535;
};
template <> struct Texel<float> {
    using Type = float4;
    static constexpr float kOpaque = 1;
};

template <class T> __global__ void rgba_kernel(View<const T, Space::device> rgb, cudaSurfaceObject_t to) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= rgb.width)
        return;
    using Type = typename Texel<T>::Type;
    for (int y = static_cast<int>(blockIdx.y); y < rgb.height; y += static_cast<int>(gridDim.y)) {
        const T* in = row_of(rgb, y) + 3 * x;
        surf2Dwrite(Type{in[0], in[1], in[2], Texel<T>::kOpaque}, to, x * static_cast<int>(sizeof(Type)), y);
    }
}

} // namespace

void expand_to_rgba(ConstDeviceView rgb, cudaSurfaceObject_t to, cudaStream_t stream) {
    constexpr unsigned kThreads = 256;
    const dim3 blocks((static_cast<unsigned>(rgb.shape.width) + kThreads - 1) / kThreads,
                      static_cast<unsigned>(rgb.shape.height < 65535 ? rgb.shape.height : 65535));
    dispatch(rgb.shape.type, [&](auto zero) {
        using T = decltype(zero);
        rgba_kernel<T><<<blocks, kThreads, 0, stream>>>(rgb.as<T>(), to);
    });
    check_launch("the kernel that makes a texture of colour");
}

} // namespace specklescope::cuda
