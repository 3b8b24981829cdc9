// Films in a file with a header and frames at computable places. A format describes its frames by a
// FilmLayout (files/film_formats.cpp); seeks, rows, byte order, transposition, times and errors are here,
// once.
#pragma once

#include "files/image_file.hpp"
#include "files/input_file.hpp"
#include "files/stored_pixels.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace specklescope {

/// The bytes of an open file, in any order.
class FilmBytes {
public:
    /// Throws RunError as open_input().
    explicit FilmBytes(const std::string& path);
    const std::string& path() const { return path_; }
    std::uint64_t size() const { return size_; }
    /// Throws RunError if the file ends before.
    void read(std::uint64_t offset, std::span<std::byte> to) const;
    /// A little-endian number.
    template <class T> T number(std::uint64_t offset) const {
        std::array<std::byte, sizeof(T)> bytes{};
        read(offset, bytes);
        if constexpr (std::endian::native == std::endian::big)
            std::reverse(bytes.begin(), bytes.end());
        return std::bit_cast<T>(bytes);
    }
    std::string text(std::uint64_t offset, std::size_t bytes) const;
    /// Throws RunError: "'FILE' is not a readable KIND file: WHY."
    [[noreturn]] void refuse(const std::string& kind, const std::string& why) const;

private:
    std::string path_;
    InputFile file_;
    std::uint64_t size_;
};

struct FilmLayout {
    std::string kind; ///< for errors: "RLS"
    std::uint64_t width = 0, height = 0, frames = 0;
    StoredPixels pixels{};
    bool by_columns = false; ///< the pixels of a column follow each other
    bool upwards = false;    ///< the lowest row comes first

    std::uint64_t offset = 0; ///< of the first frame's pixels
    std::uint64_t stride = 0; ///< bytes from frame to frame; 0: frames follow each other
    /// For frames at other places; empty: by offset and stride.
    std::function<std::uint64_t(std::uint64_t frame)> place{};
    /// For frames that do not lie in the file as they are: fills the bytes of a frame. Empty: read from
    /// `place`.
    std::function<void(std::uint64_t frame, std::span<std::byte> to)> fetch{};
    /// New values of u16 samples, which are indices into it; empty: as stored.
    std::vector<std::uint16_t> curve{};

    /// Descriptions of a recording of this program, for RecordedText: of the file with its first frame, then
    /// of each frame. Empty: another program's film, with the facts below.
    std::function<std::string(std::uint64_t frame)> text{};

    // Facts that the file states; empty functions: none.
    Recorded facts{}; ///< of all frames
    std::function<std::int64_t(std::uint64_t frame)> time_ns{};
    std::function<double(std::uint64_t frame)> exposure_ms{};
    StatedFullScale full_scale{};
    FileScale scale{};
    std::vector<std::string> remarks{}; ///< for ImageReader::remarks()
};

/// Throws RunError if the frames are too large, or there are none.
std::unique_ptr<ImageReader> open_film(std::shared_ptr<const FilmBytes> bytes, FilmLayout layout);

/// Times of frames at a steady rate; empty for a rate of 0.
std::function<std::int64_t(std::uint64_t)> steady_times(double rate);

/// Times of the frames in s, as `what` states them: "a .timing file". Left out, with a remark, if they fall
/// or do not rise at all.
void take_times(FilmLayout& film, const std::vector<double>& seconds, const std::string& what);

// Formats of other programs: files/film_formats.cpp.

struct FilmFormat {
    std::string_view name;   ///< "Postnov RLS"
    std::string_view ending; ///< ".rls"; empty: recognised by its content only
    std::string_view magic;  ///< first bytes of every file; empty: it has none
    FilmLayout (*layout)(const std::shared_ptr<const FilmBytes>& bytes, const StackChoice& choice);
};
std::span<const FilmFormat> film_formats();
/// Phantom cameras: files/cine_film.cpp.
FilmLayout cine_layout(const std::shared_ptr<const FilmBytes>& bytes, const StackChoice& choice);
/// The format of a file that begins with `head`; nullptr: none of these.
const FilmFormat* film_format(std::string_view path, std::string_view head);
/// "Postnov RLS (.rls), …".
std::string film_names();
/// True for an ending of these formats that no other file has, in any case: ".rls", not ".raw".
bool has_film_ending(std::string_view path);
std::unique_ptr<ImageReader> open_film(const std::string& path, const FilmFormat& format,
                                       const StackChoice& choice = {});

/// True for a .raw file of the FOIL software: its header and its size agree to the byte. Recordings of this
/// program (with FILE.jsonl) and pipes are never taken for one.
bool is_foil_raw(const std::string& path);

} // namespace specklescope
