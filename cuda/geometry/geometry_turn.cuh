// One or three quarter turns: a thread turns a small square of pixels in registers, a block turns a tile of
// such squares through shared memory, so that input and output are accessed in full segments.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace specklescope::cuda {

struct TurnArgs {
    const std::byte* input;
    std::byte* output;
    std::size_t input_pitch, output_pitch;
    int width, height; ///< of the input
    bool once; ///< output (x, y) is input (y, height − 1 − x); else three turns: (width − 1 − y, x)
};

inline constexpr int kTurnThreads = 256; ///< an estimate

/// A square has as many pixels per side as a word has samples; each of its lines has one word per channel.
template <class T, int kChannels> struct TurnTile {
    static constexpr int side = 4 / static_cast<int>(sizeof(T)); ///< of a square, pixels
    static constexpr int across = 32;                            ///< squares along the input's rows: one warp
    static constexpr int down = kChannels == 1 ? 32 : 16;        ///< along its columns
    static constexpr int lines = across * side;                  ///< output rows
    static constexpr int line_words = down * kChannels;          ///< of an output row
    static constexpr int stride = line_words | 1;                ///< odd: no bank conflicts in a warp
};

template <class T, int kChannels> __device__ T sample_of(const std::uint32_t (&line)[kChannels], int i) {
    constexpr int bits = 8 * static_cast<int>(sizeof(T));
    if constexpr (sizeof(T) == 4)
        return __uint_as_float(line[i]);
    else
        return static_cast<T>(line[i * static_cast<int>(sizeof(T)) / 4] >> (i * bits % 32));
}

/// Turns the square's columns into rows.
template <class T, int kChannels, int kSide>
__device__ void turn_square(std::uint32_t (&square)[kSide][kChannels]) {
    if constexpr (kSide > 1) {
        std::uint32_t turned[kSide][kChannels] = {};
#pragma unroll
        for (int row = 0; row < kSide; ++row)
#pragma unroll
            for (int i = 0; i < kSide * kChannels; ++i) {
                const int from = row * kChannels + i % kChannels; // sample of input line i / kChannels
                const auto sample =
                    static_cast<std::uint32_t>(sample_of<T, kChannels>(square[i / kChannels], from));
                constexpr int size = static_cast<int>(sizeof(T));
                turned[row][i * size / 4] |= sample << (i * size % 4 * 8);
            }
#pragma unroll
        for (int row = 0; row < kSide; ++row)
#pragma unroll
            for (int i = 0; i < kChannels; ++i)
                square[row][i] = turned[row][i];
    }
}

template <class T, int kChannels> __global__ void __launch_bounds__(kTurnThreads) turn_kernel(TurnArgs args) {
    using Tile = TurnTile<T, kChannels>;
    constexpr int side = Tile::side;
    __shared__ std::uint32_t words[Tile::lines * Tile::stride];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int x0 = static_cast<int>(blockIdx.x) * Tile::lines;           // of the input
    const int out0 = static_cast<int>(blockIdx.y) * (Tile::down * side); // column of the output
    const int x = x0 + lane * side;
    for (int j = warp; j < Tile::down; j += kTurnThreads / 32) {
        std::uint32_t square[side][kChannels] = {};
#pragma unroll
        for (int i = 0; i < side; ++i) {
            const int out_x = out0 + j * side + i;
            const int row = args.once ? args.height - 1 - out_x : out_x;
            if (out_x >= args.height || x >= args.width)
                continue;
            const auto* line = reinterpret_cast<const std::uint32_t*>(
                args.input + static_cast<std::size_t>(row) * args.input_pitch);
#pragma unroll
            for (int c = 0; c < kChannels; ++c) // the last word of a row may end in its padding
                if (kChannels == 1 ||
                    (x / side * kChannels + c) * 4 < args.width * kChannels * static_cast<int>(sizeof(T)))
                    square[i][c] = line[x / side * kChannels + c];
        }
        turn_square<T, kChannels>(square);
#pragma unroll
        for (int i = 0; i < side; ++i)
#pragma unroll
            for (int c = 0; c < kChannels; ++c) // neighbouring lanes handle neighbouring lines
                words[(i * Tile::across + lane) * Tile::stride + j * kChannels + c] = square[i][c];
    }
    __syncthreads();

    const int row_bytes = args.height * kChannels * static_cast<int>(sizeof(T));
    const int first = out0 / side * kChannels; // word of the output's rows
    for (int i = static_cast<int>(threadIdx.x); i < Tile::lines * Tile::line_words; i += kTurnThreads) {
        const int line = i / Tile::line_words;
        const int word = i % Tile::line_words;
        const int in_x = x0 + line;
        if (in_x >= args.width || (first + word) * 4 >= row_bytes)
            continue;
        const int y = args.once ? in_x : args.width - 1 - in_x;
        auto* to =
            reinterpret_cast<std::uint32_t*>(args.output + static_cast<std::size_t>(y) * args.output_pitch);
        to[first + word] = words[(line % side * Tile::across + line / side) * Tile::stride + word];
    }
}

template <class T, int kChannels> void turn(const TurnArgs& args, cudaStream_t stream) {
    using Tile = TurnTile<T, kChannels>;
    constexpr int columns = Tile::down * Tile::side;
    const dim3 blocks(static_cast<unsigned>((args.width + Tile::lines - 1) / Tile::lines),
                      static_cast<unsigned>((args.height + columns - 1) / columns));
    turn_kernel<T, kChannels><<<blocks, kTurnThreads, 0, stream>>>(args);
}

} // namespace specklescope::cuda
