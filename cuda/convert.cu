#include "cuda/convert.hpp"

#include "cuda/device.hpp"
#include "cuda/rows.cuh"
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

} // namespace specklescope::cuda
