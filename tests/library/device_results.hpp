// Shared code of the tests of results in GPU memory.
#pragma once

#include "tests/library/gpu.hpp"

#include <vector>

namespace client {

inline std::string scene(int width, int height) {
    return "synthetic:vessels?width=" + std::to_string(width) + "&height=" + std::to_string(height) +
           "&live=false";
}

inline std::string options_of(int frames, bool on_device, const std::string& more = "") {
    return "backend=cuda,frames=" + std::to_string(frames) + (on_device ? ",memory=device" : "") + more;
}

inline specklescope_image image_of(specklescope_frame* frame) {
    auto image = sized<specklescope_image>();
    EXPECT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK) << specklescope_last_error();
    return image;
}

inline std::size_t row_of(const specklescope_image& image) {
    const std::size_t sample = image.type == SPECKLESCOPE_U8 ? 1 : image.type == SPECKLESCOPE_U16 ? 2 : 4;
    return static_cast<std::size_t>(image.width) * (image.channels == 3 ? 3 : 1) * sample;
}

/// Pixels without padding between rows, in any memory; copied at once on an independent stream.
inline std::vector<unsigned char> bytes_of(const specklescope_image& image, cudaStream_t stream) {
    const std::size_t row = row_of(image);
    std::vector<unsigned char> made(row * static_cast<std::size_t>(image.height));
    const auto kind = image.memory == SPECKLESCOPE_DEVICE ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
    ok(cudaMemcpy2DAsync(made.data(), row, image.data, image.pitch, row,
                         static_cast<std::size_t>(image.height), kind, stream));
    ok(cudaStreamSynchronize(stream));
    return made;
}

inline specklescope_frame* next(specklescope_stream* from) {
    specklescope_frame* frame = nullptr;
    EXPECT_EQ(specklescope_stream_next(from, 60, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    return frame;
}

inline void free_all(std::vector<specklescope_frame*>& frames) {
    for (specklescope_frame* frame : frames)
        EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK) << specklescope_last_error();
    frames.clear();
}

/// Results of a stream on the host, by frame.
inline std::vector<std::vector<unsigned char>> on_host(const std::string& source, const char* chain,
                                                       int frames, cudaStream_t stream) {
    const Stream host(source, chain, options_of(frames, false).c_str());
    std::vector<std::vector<unsigned char>> all;
    for (int i = 0; i < frames; ++i) {
        specklescope_frame* frame = next(host);
        all.push_back(bytes_of(image_of(frame), stream));
        specklescope_frame_free(frame);
    }
    return all;
}

inline std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    ok(cudaDeviceSynchronize());
    ok(cudaMemGetInfo(&free, &total));
    return free;
}

/// Page-locked, so that a copy into it is asynchronous.
struct Locked {
    explicit Locked(std::size_t size) : bytes(size) { ok(cudaMallocHost(&data, bytes)); }
    ~Locked() { cudaFreeHost(data); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    std::vector<unsigned char> read() const {
        const auto* first = static_cast<const unsigned char*>(data);
        return {first, first + bytes};
    }
    std::size_t bytes;
    void* data = nullptr;
};

class DeviceResultsCuda : public OnGpu {
protected:
    /// Copies the frame on `on`, which may be blocked, when the GPU gets there.
    void copy_later(const specklescope_image& image, const Locked& to, cudaStream_t on) {
        ok(cudaMemcpy2DAsync(to.data, row_of(image), image.data, image.pitch, row_of(image),
                             static_cast<std::size_t>(image.height), cudaMemcpyDeviceToHost, on));
    }
};

} // namespace client
