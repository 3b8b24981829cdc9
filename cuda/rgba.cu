#include "cuda/rgba.hpp"

#include "cuda/device.hpp"
#include "cuda/rows.cuh"

namespace specklescope::cuda {

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
