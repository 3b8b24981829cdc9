// Other methods on the GPU, compared with our device stages: JSON rows on standard output.
//   specklescope-peers-cuda [FILTER]
#include "tests/bench/cuda_peers.hpp"

#include "cuda/devices.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

namespace specklescope::bench {

namespace {

using namespace cuda;

constexpr std::size_t kBeyondCache = std::size_t{400} << 20; ///< more than any L2 holds

std::vector<Frame> slots(const Shape& shape, int count) {
    FrameRing ring(shape, count, device_memory());
    std::vector<Frame> all;
    while (Frame frame = ring.try_acquire())
        all.push_back(std::move(frame));
    return all;
}

std::size_t packed_bytes(const Shape& shape, int margin) {
    const Shape framed{shape.width + 2 * margin, shape.height + 2 * margin, shape.channels, shape.type};
    return (framed.bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

nlohmann::ordered_json row_of(const Comparison& comparison) {
    const Ours ours(comparison.work, comparison.shape);
    const Peer peer = comparison.peer(ours);
    const std::string note = ours.note();
    return compare(
        "GPU " + comparison.work + (note.empty() ? "" : " (" + note + ")"), comparison.shape, peer.name,
        {{"", [&](int i) { ours.run(i % ours.sets()); }}}, [&](int i) { peer.call(i % ours.sets()); },
        [&](const std::function<void()>& calls) {
            return peer.waits ? ours.host_ms(calls) : ours.device_ms(calls);
        });
}

int run(const std::string& filter) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    std::string reason;
    if (list_gpus(&reason).empty()) {
        std::fprintf(stderr, "specklescope-peers-cuda: no GPU (%s); its rows are omitted.\n", reason.c_str());
    } else {
        std::fprintf(stderr, "%s\n", use_device(0).name);
        std::vector<Comparison> all;
        add_seeds(all);
        add_cufft(all);
        for (const Comparison& c : all)
            if ((c.work + " " + to_string(c.shape)).find(filter) != std::string::npos)
                rows.push_back(row_of(c));
    }
    std::printf("%s\n", rows.dump(1).c_str());
    return 0;
}

} // namespace

Ours::Ours(const std::string& work, const Shape& shape) : counts_(sizeof(PixelCounts), device_memory()) {
    constexpr int kFresh = 3;
    Chain chain;
    chain.add(work);
    const ChainStage& link = chain.stages().front();
    stage_ = link.type->make_device(link.params);
    const Shape result = stage_->prepare(shape);
    const int sets =
        static_cast<int>(std::clamp<std::size_t>(kBeyondCache / (shape.bytes() + result.bytes()), 2, 64));
    const std::vector<Frame> pixels = speckle_frames(shape, kFresh, page_locked_memory());
    info_ = pixels.front().info();
    inputs_ = slots(shape, sets);
    outputs_ = slots(result, sets);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const ConstHostView from = pixels[i % pixels.size()].host();
        const DeviceView to = inputs_[i].device();
        check(cudaMemcpy2D(to.data, to.pitch, from.data, from.pitch, shape.row_bytes(),
                           static_cast<std::size_t>(shape.height), cudaMemcpyHostToDevice),
              "cudaMemcpy2D");
    }
    check(cudaMemset(counts_.as<void>(), 0, sizeof(PixelCounts)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void Ours::run(int i) const {
    const auto at = static_cast<std::size_t>(i);
    stage_->run(inputs_[at].device(), outputs_[at].device(),
                {.info = info_, .counts = counts_.as<PixelCounts>(), .stream = stream_.get()});
}

double Ours::device_ms(const std::function<void()>& calls) const {
    begin_.record(stream_);
    calls();
    end_.record(stream_);
    end_.synchronize();
    return end_.ms_since(begin_);
}

double Ours::host_ms(const std::function<void()>& calls) const {
    return wall_ms([&] {
        calls();
        stream_.synchronize();
    });
}

Packed::Packed(const Shape& shape, int count, int margin)
    : count_(count), bytes_(packed_bytes(shape, margin)),
      memory_(bytes_ * static_cast<std::size_t>(count), device_memory()) {
    check(cudaMemset(memory_.as<void>(), 0, bytes_ * static_cast<std::size_t>(count)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Packed::Packed(const std::vector<Frame>& frames, int margin)
    : Packed(frames.front().shape(), static_cast<int>(frames.size()), margin) {
    const Shape& shape = frames.front().shape();
    const std::size_t pixel = shape.row_bytes() / static_cast<std::size_t>(shape.width);
    const std::size_t pitch = shape.row_bytes() + 2 * static_cast<std::size_t>(margin) * pixel;
    const std::size_t first = static_cast<std::size_t>(margin) * (pitch + pixel);
    for (int i = 0; i < count_; ++i) {
        const ConstDeviceView from = frames[static_cast<std::size_t>(i)].device();
        check(cudaMemcpy2D(at<std::byte>(i) + first, pitch, from.data, from.pitch, shape.row_bytes(),
                           static_cast<std::size_t>(shape.height), cudaMemcpyDeviceToDevice),
              "cudaMemcpy2D");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

} // namespace specklescope::bench

int main(int argc, char** argv) {
    try {
        return specklescope::bench::run(argc > 1 ? argv[1] : "");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "specklescope-peers-cuda: %s\n", error.what());
        return 1;
    }
}
