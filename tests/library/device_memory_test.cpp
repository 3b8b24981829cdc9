// Frames and results in GPU memory: the same bytes as through the host, in the order of the caller's stream,
// without writes outside the result.
#include "tests/library/gpu.hpp"

#include <cstring>
#include <memory>
#include <optional>

namespace device_memory_test {

using namespace client;

std::size_t bytes_of(int type) { return type == SPECKLESCOPE_U8 ? 1 : type == SPECKLESCOPE_U16 ? 2 : 4; }

/// GPU memory with marks around each row, which must not be overwritten.
class OnDevice {
public:
    static constexpr unsigned char kMark = 0xa5;

    /// `spare`: bytes between rows; `offset`: position of the first row.
    explicit OnDevice(specklescope_image shape, std::size_t spare = 0, std::size_t offset = 0,
                      cudaStream_t stream = nullptr)
        : image(shape),
          row_(static_cast<std::size_t>(shape.width) * (shape.channels == 3 ? 3 : 1) * bytes_of(shape.type)),
          offset_(kAround + offset) {
        image.struct_size = sizeof image;
        image.pitch = row_ + spare;
        size_ = offset_ + image.pitch * static_cast<std::size_t>(shape.height) + kAround;
        ok(cudaMalloc(&block_, size_));
        ok(cudaMemset(block_, kMark, size_));
        ok(cudaDeviceSynchronize());
        image.data = static_cast<char*>(block_) + offset_;
        image.memory = SPECKLESCOPE_DEVICE;
        image.stream = stream;
    }
    ~OnDevice() { cudaFree(block_); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    std::size_t bytes() const { return row_ * static_cast<std::size_t>(image.height); }
    void write(const void* pixels) const {
        ok(cudaMemcpy2D(image.data, image.pitch, pixels, row_, row_, static_cast<std::size_t>(image.height),
                        cudaMemcpyHostToDevice));
        ok(cudaStreamSynchronize(nullptr)); // a copy from pageable memory may be pending
    }
    /// Contents after all work is done; checks the marks.
    std::vector<unsigned char> read() const {
        std::vector<unsigned char> all(size_), made;
        ok(cudaDeviceSynchronize());
        ok(cudaMemcpy(all.data(), block_, size_, cudaMemcpyDeviceToHost));
        std::size_t spoiled = 0;
        for (std::size_t at = 0; at < size_; ++at) {
            const std::size_t in = at - offset_;
            const bool pixel = at >= offset_ && in / image.pitch < static_cast<std::size_t>(image.height) &&
                               in % image.pitch < row_;
            if (pixel)
                made.push_back(all[at]);
            else
                spoiled += all[at] != kMark;
        }
        EXPECT_EQ(spoiled, 0U) << "bytes beside the pixels were written";
        return made;
    }

    specklescope_image image;

private:
    static constexpr std::size_t kAround = 512;
    std::size_t row_, offset_, size_ = 0;
    void* block_ = nullptr;
};

class DeviceMemoryCuda : public OnGpu {};

specklescope_image shape(int width, int height, int channels, int type) {
    auto image = sized<specklescope_image>();
    image.width = width;
    image.height = height;
    image.channels = channels;
    image.type = type;
    return image;
}

std::vector<unsigned char> random_bytes(const specklescope_image& of, unsigned seed) {
    std::mt19937 random(seed);
    const auto samples =
        static_cast<std::size_t>(of.width) * static_cast<std::size_t>(of.height) * (of.channels == 3 ? 3 : 1);
    std::vector<unsigned char> made(samples * bytes_of(of.type));
    for (std::size_t i = 0; i < samples; ++i)
        if (of.type == SPECKLESCOPE_F32) {
            const float value = static_cast<float>(random() % 4096);
            std::memcpy(made.data() + 4 * i, &value, 4);
        } else if (of.type == SPECKLESCOPE_U16) {
            const auto value = static_cast<std::uint16_t>(random() % 4096);
            std::memcpy(made.data() + 2 * i, &value, 2);
        } else {
            made[i] = static_cast<unsigned char>(random());
        }
    return made;
}

std::optional<specklescope_image> output_of(specklescope_chain* chain, const specklescope_image& input) {
    auto made = sized<specklescope_image>();
    if (specklescope_chain_output(chain, &input, &made) != SPECKLESCOPE_OK)
        return std::nullopt;
    return made;
}

std::vector<unsigned char> through_host(specklescope_chain* chain, specklescope_image input,
                                        std::vector<unsigned char>& pixels, const specklescope_image& made) {
    specklescope_image output = made;
    std::vector<unsigned char> result(made.pitch * static_cast<std::size_t>(made.height));
    input.data = pixels.data();
    output.data = result.data();
    EXPECT_EQ(specklescope_chain_process(chain, &input, nullptr, &output, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    return result;
}

TEST_F(DeviceMemoryCuda, EveryStageGivesTheBytesThatItGivesThroughTheHost) {
    std::size_t stages = 0, compared = 0;
    ASSERT_EQ(specklescope_stage_count(&stages), SPECKLESCOPE_OK);
    const std::vector<specklescope_image> inputs = {
        shape(96, 50, 1, SPECKLESCOPE_U16), shape(61, 47, 1, SPECKLESCOPE_U16),
        shape(64, 48, 1, SPECKLESCOPE_U8),  shape(67, 45, 3, SPECKLESCOPE_U8),
        shape(64, 48, 3, SPECKLESCOPE_U8),  shape(72, 40, 1, SPECKLESCOPE_F32)};
    for (std::size_t i = 0; i < stages; ++i) {
        auto stage = sized<specklescope_stage_info>();
        ASSERT_EQ(specklescope_stage_describe(i, &stage), SPECKLESCOPE_OK);
        const std::string name = stage.name;
        const std::string text =
            name == "flow" || name == "mesi" ? "speckle:output=contrast2 | " + name : name;
        for (const specklescope_image& input : inputs) {
            SCOPED_TRACE(text + " of " + std::to_string(input.width) + "x" + std::to_string(input.height));
            const Chain host(text.c_str(), "backend=cuda"), device(text.c_str(), "backend=cuda");
            const auto made = output_of(host, input);
            if (!made)
                continue; // the stage does not support it
            const std::size_t spare = compared % 3 == 0 ? 0 : 48;
            const OnDevice from(input, spare, 0, stream), to(*made, spare, 0, stream);
            for (unsigned frame = 0; frame < 3; ++frame) {
                std::vector<unsigned char> pixels =
                    random_bytes(input, 100 * static_cast<unsigned>(i) + frame);
                from.write(pixels.data());
                ASSERT_EQ(specklescope_chain_process(device, &from.image, nullptr, &to.image, nullptr),
                          SPECKLESCOPE_OK)
                    << specklescope_last_error();
                ASSERT_EQ(to.read(), through_host(host, input, pixels, *made)) << "frame " << frame;
                auto one = sized<specklescope_result>(), other = sized<specklescope_result>();
                ASSERT_EQ(specklescope_chain_result(device, &one), SPECKLESCOPE_OK)
                    << specklescope_last_error();
                ASSERT_EQ(specklescope_chain_result(host, &other), SPECKLESCOPE_OK);
                EXPECT_EQ(one.raw_saturated, other.raw_saturated);
                EXPECT_EQ(one.saturated, other.saturated);
                EXPECT_EQ(one.undefined, other.undefined);
                EXPECT_EQ(one.warmup_frames, other.warmup_frames);
                EXPECT_STREQ(one.quantity, other.quantity);
            }
            EXPECT_EQ(from.read().size(), from.bytes());
            ++compared;
        }
    }
    EXPECT_GT(compared, 3 * stages);
}

TEST_F(DeviceMemoryCuda, AddressesAndRowsThatKernelsCannotTakeAreCopiedOnTheWay) {
    Pixels pixels = random_pixels(64, 48, 5);
    const Chain host("speckle:output=contrast", "backend=cuda"),
        device("speckle:output=contrast", "backend=cuda");
    const std::vector<float> expected = run(host, pixels);
    for (const auto& [offset, spare] : {std::pair{2, 0}, {0, 2}, {6, 38}, {16, 16}, {4, 4}}) {
        const OnDevice from(shape(64, 48, 1, SPECKLESCOPE_U16), static_cast<std::size_t>(spare),
                            static_cast<std::size_t>(offset), stream);
        const OnDevice to(shape(64, 48, 1, SPECKLESCOPE_F32), static_cast<std::size_t>(spare) * 2,
                          static_cast<std::size_t>(offset) * 2, stream);
        from.write(pixels.samples.data());
        ASSERT_EQ(specklescope_chain_process(device, &from.image, nullptr, &to.image, nullptr),
                  SPECKLESCOPE_OK)
            << specklescope_last_error();
        const std::vector<unsigned char> made = to.read();
        EXPECT_EQ(std::memcmp(made.data(), expected.data(), made.size()), 0) << offset << " " << spare;
    }
}

TEST_F(DeviceMemoryCuda, TheCallNeitherWaitsForTheStreamNorOvertakesIt) {
    Pixels pixels = random_pixels(64, 48, 7), wrong = random_pixels(64, 48, 8);
    const Chain host("speckle:output=contrast", "backend=cuda"),
        device("speckle:output=contrast", "backend=cuda");
    const std::vector<float> expected = run(host, pixels);
    const OnDevice from(shape(64, 48, 1, SPECKLESCOPE_U16), 0, 0, stream);
    const OnDevice to(shape(64, 48, 1, SPECKLESCOPE_F32), 0, 0, stream);
    from.write(wrong.samples.data());
    ASSERT_EQ(specklescope_chain_process(device, &from.image, nullptr, &to.image, nullptr), SPECKLESCOPE_OK);
    ok(cudaStreamSynchronize(stream)); // preparations are complete

    void* locked = nullptr;
    ok(cudaMallocHost(&locked, from.bytes()));
    std::memcpy(locked, pixels.samples.data(), from.bytes());
    std::vector<float> made(expected.size());
    Gate gate;
    gate.close(stream);
    ok(cudaMemcpyAsync(from.image.data, locked, from.bytes(), cudaMemcpyHostToDevice, stream));
    ASSERT_EQ(specklescope_chain_process(device, &from.image, nullptr, &to.image, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady) << "the gate is closed: nothing can be done yet";
    gate.open = true;
    ok(cudaMemcpyAsync(locked, from.image.data, 0, cudaMemcpyDeviceToHost, stream));
    void* result = nullptr;
    ok(cudaMallocHost(&result, to.bytes()));
    ok(cudaMemcpyAsync(result, to.image.data, to.bytes(), cudaMemcpyDeviceToHost,
                       stream)); // after the chain
    ok(cudaStreamSynchronize(stream));
    EXPECT_EQ(std::memcmp(result, expected.data(), to.bytes()), 0);
    cudaFreeHost(locked);
    cudaFreeHost(result);
}

TEST_F(DeviceMemoryCuda, ManyFramesMayBeOnTheirWayEachWithItsOwnResult) {
    const char* const text = "average:frames=3 | speckle:output=contrast";
    const Chain host(text, "backend=cuda"), device(text, "backend=cuda");
    std::vector<std::unique_ptr<OnDevice>> from, to;
    std::vector<std::vector<unsigned char>> expected;
    const specklescope_image input = shape(61, 48, 1, SPECKLESCOPE_U16);
    const auto output = output_of(host, input);
    ASSERT_TRUE(output) << specklescope_last_error();
    for (unsigned i = 0; i < 30; ++i) {
        std::vector<unsigned char> pixels = random_bytes(input, i);
        from.push_back(std::make_unique<OnDevice>(input, 0, 0, stream));
        to.push_back(std::make_unique<OnDevice>(*output, 0, 0, stream));
        from.back()->write(pixels.data());
        expected.push_back(through_host(host, input, pixels, *output));
    }
    ok(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < from.size(); ++i)
        ASSERT_EQ(specklescope_chain_process(device, &from[i]->image, nullptr, &to[i]->image, nullptr),
                  SPECKLESCOPE_OK)
            << specklescope_last_error();
    auto result = sized<specklescope_result>();
    ASSERT_EQ(specklescope_chain_result(device, &result), SPECKLESCOPE_OK);
    EXPECT_EQ(result.sequence, 29U);
    for (std::size_t i = 0; i < from.size(); ++i)
        EXPECT_EQ(to[i]->read(), expected[i]) << i;
}

TEST_F(DeviceMemoryCuda, EitherSideMayLieOnTheHost) {
    for (const char* const text : {"speckle:output=contrast", "", "gamma:gamma=0.5 | crop:x=3,width=50"})
        for (const int width : {64, 61}) {
            const specklescope_image input = shape(width, 48, 1, SPECKLESCOPE_U16);
            const Chain chain(text, "backend=cuda");
            const auto made = output_of(chain, input);
            ASSERT_TRUE(made) << specklescope_last_error();
            std::vector<unsigned char> pixels = random_bytes(input, 3);
            const std::vector<unsigned char> expected = through_host(chain, input, pixels, *made);
            const OnDevice from(input, 0, 0, stream), to(*made, 0, 0, stream);
            from.write(pixels.data());
            specklescope_image host_in = input, host_out = *made;
            std::vector<unsigned char> out(expected.size());
            host_in.data = pixels.data();
            host_out.data = out.data();
            ASSERT_EQ(specklescope_chain_process(chain, &from.image, nullptr, &host_out, nullptr),
                      SPECKLESCOPE_OK)
                << specklescope_last_error();
            EXPECT_EQ(out, expected) << text;
            ASSERT_EQ(specklescope_chain_process(chain, &host_in, nullptr, &to.image, nullptr),
                      SPECKLESCOPE_OK)
                << specklescope_last_error();
            EXPECT_EQ(to.read(), expected) << text;
            const OnDevice again(*made, 0, 0, stream);
            ASSERT_EQ(specklescope_chain_process(chain, &from.image, nullptr, &again.image, nullptr),
                      SPECKLESCOPE_OK)
                << specklescope_last_error();
            EXPECT_EQ(again.read(), expected) << text;
        }
}

TEST_F(DeviceMemoryCuda, WhatIsNoMemoryOfTheChainsGpuIsRefused) {
    const Chain chain("speckle:output=contrast", "backend=cuda"),
        on_host("speckle:output=contrast", "backend=cpu");
    const OnDevice from(shape(64, 48, 1, SPECKLESCOPE_U16), 0, 0, stream),
        to(shape(64, 48, 1, SPECKLESCOPE_F32), 0, 0, stream);
    std::vector<unsigned char> pixels(64 * 48 * 4);
    const auto refused = [&](specklescope_chain* by, specklescope_image in, specklescope_image out,
                             const char* part) {
        expect_refused(specklescope_chain_process(by, &in, nullptr, &out, nullptr), SPECKLESCOPE_USAGE_ERROR,
                       part);
    };
    refused(on_host, from.image, to.image,
            "The input lies in memory of a GPU, and this chain runs on the CPU; copy it");
    specklescope_image wrong = from.image;
    wrong.data = pixels.data();
    refused(chain, wrong, to.image,
            "The input is said to lie on a GPU, and its first byte is no address of one");
    void* locked = nullptr;
    ok(cudaMallocHost(&locked, pixels.size()));
    wrong.data = locked;
    refused(chain, wrong, to.image,
            "The input is said to lie on a GPU and lies in page-locked memory of the host");
    cudaFreeHost(locked);
    wrong = to.image;
    wrong.data = pixels.data();
    refused(chain, from.image, wrong, "The output is said to lie on a GPU");
    wrong = from.image;
    wrong.pitch = std::size_t{1} << 30;
    refused(chain, wrong, to.image, "its last byte is no address of one");
    wrong.pitch = 126;
    refused(chain, wrong, to.image, "The input has a pitch of 126 bytes; allowed: multiples of 2 from 128");
    wrong = from.image;
    wrong.data = static_cast<char*>(wrong.data) + 1;
    refused(chain, wrong, to.image, "no multiple of the 2 bytes of a sample");
    wrong = to.image;
    wrong.width = 63;
    refused(chain, from.image, wrong, "The output is 63×48 f32, and the chain makes 64×48 f32");
    refused(chain, to.image, to.image, "The output shares memory with the input");
    refused(chain, shape(64, 48, 1, SPECKLESCOPE_U16), to.image, "data is NULL");

    cudaStream_t captured = nullptr;
    ok(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    ok(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
    wrong = from.image;
    wrong.stream = captured;
    refused(chain, wrong, to.image, "is being captured into a graph, which a chain cannot be part of");
    cudaGraph_t graph = nullptr;
    ok(cudaStreamEndCapture(captured, &graph));
    ok(cudaGraphDestroy(graph));
    ok(cudaStreamDestroy(captured));

    specklescope_view* view = nullptr;
    ASSERT_EQ(specklescope_view_create("low=0,high=1", &view), SPECKLESCOPE_OK);
    specklescope_image colours = shape(64, 48, 3, SPECKLESCOPE_U8);
    colours.data = pixels.data();
    expect_refused(specklescope_view_colors(view, &to.image, &colours, nullptr, nullptr),
                   SPECKLESCOPE_USAGE_ERROR,
                   "The input lies in memory of a GPU, which this call does not take; copy it to the host.");
    specklescope_view_free(view);
    for (const unsigned char byte : to.read())
        ASSERT_EQ(byte, OnDevice::kMark) << "a refused call has written";
    EXPECT_EQ(specklescope_chain_process(chain, &from.image, nullptr, &to.image, nullptr), SPECKLESCOPE_OK);
}

TEST_F(DeviceMemoryCuda, MemoryOfTheLibraryIsOrderedByItsStreamAndOutlivesTheChain) {
    specklescope_chain* chain = nullptr;
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cuda,gpus=0";
    ASSERT_EQ(specklescope_chain_create("gamma:gamma=1", &settings, &chain), SPECKLESCOPE_OK)
        << specklescope_last_error();
    specklescope_image made = shape(64, 48, 1, SPECKLESCOPE_U16);
    made.stream = stream;
    specklescope_memory* memory = nullptr;
    ASSERT_EQ(specklescope_memory_create(chain, &made, &memory), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(made.memory, SPECKLESCOPE_DEVICE);
    EXPECT_EQ(made.pitch, 128U);
    std::int32_t device = -1;
    ASSERT_EQ(specklescope_memory_device(memory, &device), SPECKLESCOPE_OK);
    EXPECT_EQ(device, 0);
    const OnDevice from(shape(64, 48, 1, SPECKLESCOPE_U16), 0, 0, stream);
    Pixels pixels = random_pixels(64, 48, 9);
    from.write(pixels.samples.data());
    ASSERT_EQ(specklescope_chain_process(chain, &from.image, nullptr, &made, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    cudaStream_t other = nullptr;
    ok(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    Gate gate;
    gate.close(stream);
    ASSERT_EQ(specklescope_memory_order(memory, other), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady) << "it is behind the memory's stream, which is held";
    gate.open = true;
    std::vector<std::uint16_t> read(64 * 48);
    ok(cudaMemcpyAsync(read.data(), made.data, read.size() * 2, cudaMemcpyDeviceToHost, other));
    ok(cudaStreamSynchronize(other));
    EXPECT_EQ(read, pixels.samples);
    ok(cudaStreamDestroy(other));
    ASSERT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_memory_free(memory), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_memory_free(memory), SPECKLESCOPE_BAD_HANDLE);
    EXPECT_EQ(specklescope_memory_order(memory, nullptr), SPECKLESCOPE_BAD_HANDLE);
    ok(cudaDeviceSynchronize());
}

TEST_F(DeviceMemoryCuda, MemoryGoesBackWhenItsStreamIsGone) {
    const Chain chain("gamma:gamma=1", "backend=cuda");
    std::size_t before = 0, total = 0;
    for (int turn = 0; turn < 8; ++turn) {
        specklescope_image made = shape(4096, 4096, 1, SPECKLESCOPE_F32);
        cudaStream_t own = nullptr, reader = nullptr;
        ok(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
        ok(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
        made.stream = own;
        specklescope_memory* memory = nullptr;
        ASSERT_EQ(specklescope_memory_create(chain, &made, &memory), SPECKLESCOPE_OK)
            << specklescope_last_error();
        ok(cudaMemsetAsync(made.data, 1 + turn, made.pitch * 4096, own));
        ASSERT_EQ(specklescope_memory_order(memory, reader), SPECKLESCOPE_OK) << specklescope_last_error();
        ok(cudaStreamDestroy(own));
        std::vector<unsigned char> read(made.pitch * 4096);
        ok(cudaMemcpyAsync(read.data(), made.data, read.size(), cudaMemcpyDeviceToHost, reader));
        ASSERT_EQ(specklescope_memory_free_idle(memory), SPECKLESCOPE_OK) << specklescope_last_error();
        EXPECT_EQ(cudaStreamQuery(reader), cudaSuccess) << "it was waited for";
        EXPECT_EQ(read, std::vector<unsigned char>(read.size(), static_cast<unsigned char>(1 + turn)));
        EXPECT_EQ(specklescope_memory_free_idle(memory), SPECKLESCOPE_BAD_HANDLE);
        ok(cudaStreamDestroy(reader));
        std::size_t free = 0;
        ok(cudaMemGetInfo(&free, &total));
        if (turn == 1)
            before = free;
        EXPECT_GE(free, before) << "turn " << turn;
    }
    EXPECT_EQ(specklescope_memory_free_idle(nullptr), SPECKLESCOPE_OK);
}

TEST_F(DeviceMemoryCuda, EditsAndOtherSizesTakeEffectWhileFramesAreOnTheirWay) {
    const Chain host("speckle:radius=2,output=contrast", "backend=cuda"),
        device("speckle:radius=2,output=contrast", "backend=cuda");
    std::vector<std::unique_ptr<OnDevice>> from, to;
    std::vector<std::vector<unsigned char>> expected;
    for (unsigned i = 0; i < 12; ++i) {
        for (specklescope_chain* chain :
             {static_cast<specklescope_chain*>(host), static_cast<specklescope_chain*>(device)})
            ASSERT_EQ(specklescope_chain_set(chain, 0, "radius", std::to_string(1 + i % 5).c_str()),
                      SPECKLESCOPE_OK);
        const specklescope_image input = shape(i % 4 == 3 ? 96 : 64, 48, 1, SPECKLESCOPE_U16);
        std::vector<unsigned char> pixels = random_bytes(input, i);
        const auto made = output_of(host, input);
        ASSERT_TRUE(made);
        expected.push_back(through_host(host, input, pixels, *made));
        from.push_back(std::make_unique<OnDevice>(input, 0, 0, stream));
        to.push_back(std::make_unique<OnDevice>(*made, 0, 0, stream));
        from.back()->write(pixels.data());
        ASSERT_EQ(
            specklescope_chain_process(device, &from.back()->image, nullptr, &to.back()->image, nullptr),
            SPECKLESCOPE_OK)
            << specklescope_last_error();
    }
    for (std::size_t i = 0; i < to.size(); ++i)
        EXPECT_EQ(to[i]->read(), expected[i]) << i;
}

} // namespace device_memory_test
