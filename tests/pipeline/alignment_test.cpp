// A host stage gives the same bytes for all row positions: aligned, where results may be streamed past the
// caches, and unaligned, where they cannot.
#include "bench/cases.hpp"
#include "bench/host.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace specklescope::alignment_test {

using namespace bench;

/// An image whose rows start at odd multiples of a sample.
class OddImage {
public:
    explicit OddImage(const Shape& shape)
        : shape_(shape), pitch_(shape.row_bytes() + 3 * pixel_bytes(shape.type)),
          bytes_(pitch_ * static_cast<std::size_t>(shape.height) + pixel_bytes(shape.type), std::byte{0x5a}) {
    }
    HostView view() { return {bytes_.data() + pixel_bytes(shape_.type), shape_, pitch_}; }

private:
    Shape shape_;
    std::size_t pitch_;
    std::vector<std::byte> bytes_;
};

PixelCounts run_stage(HostStage& stage, ConstHostView input, HostView output, const FrameInfo& info) {
    PixelCounts counts;
    stage.run(input, output, {.info = info, .counts = counts});
    return counts;
}

void expect_same_anywhere(const std::string& work, const Shape& shape, bool dark = false) {
    SCOPED_TRACE(work + " " + to_string(shape));
    Chain chain;
    chain.add(work);
    const ChainStage& link = chain.stages().front();
    const auto stage = link.type->make_host(link.params);
    const Shape result = stage->prepare(shape);
    const Frame input = speckle_frames(shape, 1, host_memory()).front();
    for (int y = 0; dark && y < shape.height / 3; ++y) // undefined results
        std::memset(input.host().row(y), 0, shape.row_bytes());
    const Frame output = poisoned_frames(result, 1, std::byte{0xa5}).front();
    OddImage odd_input(shape);
    OddImage odd_output(result);
    for (int y = 0; y < shape.height; ++y)
        std::memcpy(odd_input.view().row(y), input.host().row(y), shape.row_bytes());
    const PixelCounts counts = run_stage(*stage, input.host(), output.host(), input.info());
    const PixelCounts odd = run_stage(*stage, odd_input.view(), odd_output.view(), input.info());
    for (int y = 0; y < result.height; ++y)
        ASSERT_EQ(std::memcmp(output.host().row(y), odd_output.view().row(y), result.row_bytes()), 0) << y;
    EXPECT_EQ(counts.undefined, odd.undefined);
    EXPECT_EQ(counts.infinite, odd.infinite);
    EXPECT_EQ(counts.saturated, odd.saturated);
    EXPECT_EQ(counts.undefined > 0, dark);
}

void expect_all_same_anywhere() {
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32}) {
        for (const char* work : {"speckle:radius=2", "speckle:radius=7,border=crop", "speckle:radius=15"})
            expect_same_anywhere(work, {1103, 520, 1, type}, true); // more than 2 MiB of results
        for (const int channels : {1, 3})
            for (const int width : {65, 128, 331}) {
                const Shape shape{width, 50, channels, type};
                expect_same_anywhere("gaussian:sigma=3,method=recursive", shape);
                expect_same_anywhere("gaussian:sigma=2,method=recursive,border=crop", shape);
                expect_same_anywhere("gaussian:sigma=3,method=recursive,border=reflect", shape);
                expect_same_anywhere("downsample:factor=2", shape);
                expect_same_anywhere("equalize", shape);
            }
    }
}

TEST(Alignment, SameBytesAnywhere) { expect_all_same_anywhere(); }

TEST(Alignment, SameBytesAnywhereWithEachInstructionSet) {
    for (const std::string& name : simd_to_compare()) {
        SCOPED_TRACE(name);
        const SimdLimit limit(name);
        expect_all_same_anywhere();
    }
}

TEST(Alignment, TheLimitOfAnInstructionSetEnds) {
    const std::vector<std::string> before = simd_to_compare();
    {
        const SimdLimit limit(before.back());
        EXPECT_EQ(simd_to_compare(), std::vector<std::string>{before.back()});
    }
    EXPECT_EQ(simd_to_compare(), before);
}

} // namespace specklescope::alignment_test
