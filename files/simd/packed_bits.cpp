// Unpacks eight samples of 10 or 12 bits at a time, compiled for every instruction set (Highway): a shuffle
// brings the two bytes of a sample into 16 bits, a product and a shift align it.
#include "files/stored_pixels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "files/simd/packed_bits.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>

#ifndef SPECKLESCOPE_PACKED_BITS
#define SPECKLESCOPE_PACKED_BITS
namespace specklescope {

/// A sample is ((pair * times) >> shift & mask) | (pair >> high_shift & high_mask).
struct UnpackSteps {
    std::array<std::uint8_t, 16> bytes{}; ///< indices in the block, for eight pairs
    std::array<std::uint16_t, 8> times{};
    std::size_t block = 0; ///< bytes of eight samples
    int shift = 0, high_shift = 0;
    std::uint16_t mask = 0xffff, high_mask = 0;
};

} // namespace specklescope
#endif

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Blocks of eight, while 16 bytes can be read. Returns the number of samples.
std::size_t UnpackBlocks(const UnpackSteps& steps, const std::uint8_t* from, std::size_t bytes,
                         std::size_t count, std::uint16_t* to) {
#if HWY_TARGET == HWY_SCALAR
    (void)steps, (void)from, (void)bytes, (void)count, (void)to;
    return 0;
#else
    const hn::FixedTag<std::uint8_t, 16> d8;
    const hn::FixedTag<std::uint16_t, 8> d16;
    const auto order = hn::LoadU(d8, steps.bytes.data());
    const auto times = hn::LoadU(d16, steps.times.data());
    const auto mask = hn::Set(d16, steps.mask), high_mask = hn::Set(d16, steps.high_mask);
    std::size_t done = 0;
    for (std::size_t at = 0; done + 8 <= count && at + 16 <= bytes; done += 8, at += steps.block) {
        const auto pairs = hn::BitCast(d16, hn::TableLookupBytes(hn::LoadU(d8, from + at), order));
        const auto low = hn::And(hn::ShiftRightSame(hn::Mul(pairs, times), steps.shift), mask);
        const auto high = hn::And(hn::ShiftRightSame(pairs, steps.high_shift), high_mask);
        hn::StoreU(hn::Or(low, high), d16, to + done);
    }
    return done;
#endif
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(UnpackBlocks);

namespace {

UnpackSteps unpack_steps(Packing packing, int bits) {
    UnpackSteps steps;
    steps.shift = packing == Packing::gige ? 4 : 16 - bits;
    steps.block = packing == Packing::gige ? 12 : static_cast<std::size_t>(bits);
    if (packing == Packing::gige) {
        steps.mask = static_cast<std::uint16_t>((1 << (bits - 8)) - 1);
        steps.high_shift = 16 - bits;
        steps.high_mask = static_cast<std::uint16_t>(255 << (bits - 8));
    }
    for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t bit = i * static_cast<std::size_t>(bits), byte = bit / 8;
        const auto within = static_cast<int>(bit % 8);
        auto low = static_cast<std::uint8_t>(byte), high = static_cast<std::uint8_t>(byte + 1);
        int left = 16 - bits - within;
        if (packing == Packing::msb) {
            std::swap(low, high);
            left = within;
        }
        if (packing == Packing::gige) {
            low = static_cast<std::uint8_t>(i / 2 * 3 + 1);
            high = static_cast<std::uint8_t>(i % 2 == 0 ? low - 1 : low + 1);
            left = i % 2 == 0 ? 4 : 0;
        }
        steps.bytes[2 * i] = low;
        steps.bytes[2 * i + 1] = high;
        steps.times[i] = static_cast<std::uint16_t>(1 << left);
    }
    return steps;
}

std::uint16_t unpack_one(Packing packing, int bits, std::span<const std::byte> from, std::size_t index) {
    const auto byte = [&](std::size_t at) {
        return at < from.size() ? std::to_integer<unsigned>(from[at]) : 0U;
    };
    if (packing == Packing::gige) {
        const std::size_t middle = index / 2 * 3 + 1;
        const auto more = static_cast<unsigned>(bits - 8);
        const unsigned high = byte(index % 2 == 0 ? middle - 1 : middle + 1);
        const unsigned low = byte(middle) >> (index % 2 == 0 ? 0U : 4U);
        return static_cast<std::uint16_t>(high << more | (low & ((1U << more) - 1)));
    }
    const std::size_t bit = index * static_cast<std::size_t>(bits), at = bit / 8;
    const auto within = static_cast<unsigned>(bit % 8), width = static_cast<unsigned>(bits);
    const unsigned mask = (1U << width) - 1;
    if (packing == Packing::lsb)
        return static_cast<std::uint16_t>((byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16) >> within &
                                          mask);
    return static_cast<std::uint16_t>(
        (byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2)) >> (24 - width - within) & mask);
}

} // namespace

std::size_t packed_bytes(Packing packing, int bits, std::size_t count) {
    return packing == Packing::gige ? (count * 3 + 1) / 2 : (count * static_cast<std::size_t>(bits) + 7) / 8;
}

void unpack_samples(Packing packing, int bits, std::span<const std::byte> from, std::size_t first,
                    std::size_t count, std::uint16_t* to) {
    std::size_t done = 0;
    // eight samples start at a byte boundary if their index is a multiple of four
    if (bits == 10 || bits == 12) {
        for (; done < count && (first + done) % 4 != 0; ++done)
            to[done] = unpack_one(packing, bits, from, first + done);
        const std::size_t begin = packed_bytes(packing, bits, first + done);
        if (begin < from.size())
            done += HWY_DYNAMIC_DISPATCH(UnpackBlocks)(
                unpack_steps(packing, bits), reinterpret_cast<const std::uint8_t*>(from.data()) + begin,
                from.size() - begin, count - done, to + done);
    }
    for (; done < count; ++done)
        to[done] = unpack_one(packing, bits, from, first + done);
}

} // namespace specklescope
#endif
