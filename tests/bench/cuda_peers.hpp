// Our device stages and other methods on the same pixels in device memory.
#pragma once

#include "bench/peers/compare.hpp"
#include "cuda/device.hpp"
#include "pipeline/chain.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace specklescope::bench {

/// One stage with rotating frames, more than fit into any cache.
class Ours {
public:
    Ours(const std::string& work, const Shape& shape);
    void run(int i) const;
    std::string note() const { return stage_->note(); }

    int sets() const { return static_cast<int>(inputs_.size()); }
    const std::vector<Frame>& inputs() const { return inputs_; }
    const std::vector<Frame>& outputs() const { return outputs_; }
    const cuda::Stream& stream() const { return stream_; }
    /// Milliseconds on the device, by events on stream().
    double device_ms(const std::function<void()>& calls) const;
    /// Milliseconds on the host until stream() is done: for peers that allocate and wait inside.
    double host_ms(const std::function<void()>& calls) const;

private:
    std::unique_ptr<DeviceStage> stage_;
    cuda::Stream stream_;
    cuda::Event begin_, end_;
    std::vector<Frame> inputs_, outputs_;
    FrameInfo info_;
    cuda::Buffer counts_;
};

/// Images without row padding, with a border of `margin` zero pixels.
class Packed {
public:
    Packed(const Shape& shape, int count, int margin = 0);
    /// The pixels of all inputs.
    Packed(const std::vector<Frame>& frames, int margin);
    template <class T> T* at(int i) const {
        return reinterpret_cast<T*>(memory_.as<std::byte>() + bytes_ * static_cast<std::size_t>(i % count_));
    }

private:
    int count_;
    std::size_t bytes_; ///< per image
    cuda::Buffer memory_;
};

/// Another method, ready to work on Ours::inputs().
struct Peer {
    std::string name;
    std::function<void(int)> call; ///< frame 0 … sets() − 1
    bool waits = false;            ///< allocates and waits inside: see Ours::host_ms()
};

struct Comparison {
    std::string work;
    Shape shape;
    std::function<Peer(const Ours&)> peer;
};

void add_seeds(std::vector<Comparison>& all);
/// Only cuFFT's two transforms of the padded image.
void add_cufft(std::vector<Comparison>& all);

} // namespace specklescope::bench
