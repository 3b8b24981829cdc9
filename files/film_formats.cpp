// Layouts of films of other programs, each from its public description, which is named at its function.
#include "base/error.hpp"
#include "base/system.hpp"
#include "files/film_file.hpp"
#include "files/json_object.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace specklescope {

namespace {

using Bytes = std::shared_ptr<const FilmBytes>;

constexpr StoredPixels kGray32fbe{PixelType::f32, 1, 0, StoredPixels::Layout::swapped};

/// Bytes of the frames; the largest number if that is too large to count.
std::uint64_t frames_bytes(const FilmLayout& layout, std::uint64_t each) {
    std::uint64_t bytes = each;
    for (const std::uint64_t side : {layout.width, layout.height, layout.frames})
        if (__builtin_mul_overflow(bytes, side, &bytes))
            return std::numeric_limits<std::uint64_t>::max();
    return bytes;
}

/// Bytes of a frame; refuses a header that claims more than the file has.
std::uint64_t frame_bytes(const FilmLayout& film, const FilmBytes& file) {
    FilmLayout one = film;
    one.frames = 1;
    const std::uint64_t bytes = frames_bytes(one, pixel_bytes(film.pixels.type));
    if (bytes > file.size())
        file.refuse(film.kind, "its header claims frames of " + std::to_string(film.width) + " × " +
                                   std::to_string(film.height) + " pixels");
    return bytes;
}

// Postnov's toolbox, readRLS.m (2021): u64 width, height, frames, sampling period in ms; "Ver.", u64 version
// and from version 2 on u64 bytes per pixel at byte 32, absent in older files; from byte 30720 for each frame
// a u64 time stamp in µs and the pixels, column by column.
FilmLayout rls_layout(const Bytes& file, const StackChoice&) {
    constexpr std::uint64_t kHeader = 30 * 1024, kStamp = 8;
    FilmLayout film{.kind = "RLS",
                    .width = file->number<std::uint64_t>(0),
                    .height = file->number<std::uint64_t>(8),
                    .frames = file->number<std::uint64_t>(16)};
    const auto period = file->number<std::uint64_t>(24);
    std::uint64_t version = 0, each = 1;
    if (file->text(32, 4) == "Ver.") {
        version = file->number<std::uint64_t>(36);
        if (version > 1)
            each = file->number<std::uint64_t>(44);
    }
    if (each != 1 && each != 2)
        file->refuse(film.kind, "its version " + std::to_string(version) + " states " + std::to_string(each) +
                                    " bytes per pixel at byte 44; allowed: 1, 2");
    film.pixels = each == 2 ? stored::kGray16 : stored::kGray8;
    film.by_columns = true;
    film.stride = kStamp + frame_bytes(film, *file);
    film.offset = kHeader + kStamp;
    if (version > 2 && file->size() != kHeader + film.frames * film.stride)
        file->refuse(film.kind, "its version at byte 36 is " + std::to_string(version) +
                                    ", and its size is not that of a known version; known: 1, 2");
    const auto stamp = [file, stride = film.stride](std::uint64_t frame) {
        const auto us = file->number<std::uint64_t>(kHeader + frame * stride);
        return static_cast<std::int64_t>(std::min<std::uint64_t>(us, kTooLate / 1000)) * 1000;
    };
    const bool two = film.frames > 1 && file->size() >= kHeader + 2 * film.stride;
    if (two && stamp(1) <= stamp(0) && period > 0) {
        film.time_ns = steady_times(1000.0 / static_cast<double>(period));
        film.remarks.push_back("has no time stamps that rise; its sampling period of " +
                               std::to_string(period) + " ms is used");
    } else {
        film.time_ns = stamp;
    }
    return film;
}

/// FOIL's NAME.timing next to NAME.sc or NAME.raw: one f32 for each frame.
void take_foil_times(FilmLayout& film, const FilmBytes& file) {
    const std::string path = std::filesystem::path(file.path()).replace_extension(".timing").string();
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing))
        return;
    const FilmBytes timing(path);
    if (timing.size() != film.frames * sizeof(float)) {
        film.remarks.emplace_back("has a .timing file of another number of frames, which is ignored");
        return;
    }
    std::vector<double> seconds;
    seconds.reserve(film.frames);
    for (std::uint64_t i = 0; i < film.frames; ++i)
        seconds.push_back(timing.number<float>(i * sizeof(float)));
    take_times(film, seconds, "a .timing file");
    if (film.time_ns)
        film.remarks.emplace_back(
            "has a .timing file; its times are taken as seconds (assumed: it names no unit)");
}

// FOIL speckle software, raw frames: u16 height, width, frames, exposure in ms; u8 frames, row by row. Long
// films continue in further files with their own headers. Nothing marks the format, so that its size must
// agree.
FilmLayout foil_raw_layout(const Bytes& file, const StackChoice&) {
    constexpr std::uint64_t kHeader = 8;
    FilmLayout film{.kind = "FOIL raw",
                    .width = file->number<std::uint16_t>(2),
                    .height = file->number<std::uint16_t>(0),
                    .frames = file->number<std::uint16_t>(4)};
    film.offset = kHeader;
    const std::uint64_t bytes = frames_bytes(film, 1);
    if (file->size() != kHeader + bytes)
        file->refuse(film.kind, "its first 8 bytes would mean " + std::to_string(film.frames) +
                                    " frames of " + std::to_string(film.width) + " × " +
                                    std::to_string(film.height) + " pixels and " +
                                    std::to_string(kHeader + bytes) + " bytes, and it has " +
                                    std::to_string(file->size()) +
                                    "; headerless frames are read by raw:FILE?width=W&height=H&format=F");
    if (const auto exposure = file->number<std::uint16_t>(6); exposure > 0)
        film.facts.exposure_ms = exposure;
    take_foil_times(film, *file);
    return film;
}

// FOIL speckle software, speckle contrast: u16 height, width, frames; f32 K, row by row.
FilmLayout foil_contrast_layout(const Bytes& file, const StackChoice&) {
    FilmLayout film{.kind = "FOIL contrast",
                    .width = file->number<std::uint16_t>(2),
                    .height = file->number<std::uint16_t>(0),
                    .frames = file->number<std::uint16_t>(4),
                    .pixels = stored::kGray32f,
                    .offset = 6};
    film.facts.quantity = {"speckle contrast", "K", "1", Measure::contrast};
    take_foil_times(film, *file);
    return film;
}

/// A positive number in the footer; 0: missing.
double footer_number(const nlohmann::json& footer, const char* pointer) {
    const nlohmann::json::json_pointer place(pointer);
    if (!footer.contains(place) || !footer.at(place).is_number())
        return 0;
    return std::max(0.0, footer.at(place).get<double>());
}

/// Pixel size and rate in the JSON text after the frames.
void take_holo_footer(FilmLayout& film, const FilmBytes& file, std::uint64_t begin) {
    constexpr std::uint64_t kMost = 1 << 20;
    const std::uint64_t size = file.size();
    if (begin >= size)
        return;
    const nlohmann::json footer =
        json_object_in(file.text(begin, static_cast<std::size_t>(std::min(kMost, size - begin))));
    if (!footer.is_object())
        return;
    double um = footer_number(footer, "/info/pixel_pitch/x");
    if (um == 0)
        um = footer_number(footer, "/file_info/pixel size/x");
    if (um > 0 && um <= kMaxUmPerPx)
        film.scale = {.um_per_px = um, .by = "its footer"};
    double rate = footer_number(footer, "/info/camera_fps");
    if (rate == 0)
        rate = footer_number(footer, "/info/input_fps");
    film.time_ns = steady_times(rate);
}

// Holovibes, holo_file.hh: "HOLO", u16 version, u16 bits, u32 width, height, frames, u64 bytes of the frames,
// u8 byte order (0: little-endian), padding up to byte 64; frames; a footer in JSON.
FilmLayout holo_layout(const Bytes& file, const StackChoice&) {
    constexpr std::uint64_t kHeader = 64;
    constexpr unsigned kNewest = 7;
    FilmLayout film{.kind = "Holovibes"};
    const unsigned version = file->number<std::uint16_t>(4), bits = file->number<std::uint16_t>(6);
    if (version > kNewest)
        file->refuse(film.kind, "its version at byte 4 is " + std::to_string(version) + "; allowed: 0 to " +
                                    std::to_string(kNewest));
    film.width = file->number<std::uint32_t>(8);
    film.height = file->number<std::uint32_t>(12);
    film.frames = file->number<std::uint32_t>(16);
    film.offset = kHeader;
    const auto order = file->number<std::uint8_t>(28);
    if (order > 1 || (bits != 8 && bits != 16 && bits != 32))
        file->refuse(film.kind, "its version " + std::to_string(version) + " states " + std::to_string(bits) +
                                    " bits at byte 6 and byte order " + std::to_string(order) +
                                    " at byte 28; allowed: 8, 16, 32 bits and order 0, 1");
    film.pixels = bits == 8    ? stored::kGray8
                  : bits == 16 ? (order == 0 ? stored::kGray16 : stored::kGray16be)
                               : (order == 0 ? stored::kGray32f : kGray32fbe);
    const auto stated = file->number<std::uint64_t>(20);
    if (const std::uint64_t bytes = frames_bytes(film, bits / 8); stated != bytes)
        file->refuse(film.kind, "it states " + std::to_string(stated) + " bytes of frames at byte 20, and " +
                                    std::to_string(film.frames) + " frames of its size have " +
                                    std::to_string(bytes));
    take_holo_footer(film, *file, kHeader + stated);
    return film;
}

// moor FLPI, imfun/io/ioraw.py (abrazhe/image-funcut): a text with the version, then 32 bits (version 2) or
// 64 bits each for frames, width, height and the period in ms or µs; from byte 65536 for each frame two
// images of u16, row by row: flux and mean light. Other settings have no known units and are left out.
FilmLayout moor_layout(const Bytes& file, const StackChoice& choice) {
    constexpr std::uint64_t kHeader = 0x10000, kSecond = 0x8000, kThird = 0x1000;
    FilmLayout film{.kind = "moor FLPI"};
    const std::string text = file->text(0, 64);
    const bool third = text.find("V3.0") != std::string::npos;
    if (!third && text.find("V2.0") == std::string::npos)
        file->refuse(film.kind, "its text at byte 0 states no known version; known: V2.0, V3.0");
    const auto number = [&](std::uint64_t at) {
        return third ? file->number<std::uint64_t>(kThird + at)
                     : std::uint64_t{file->number<std::uint32_t>(kSecond + at)};
    };
    film.frames = number(0);
    film.width = number(8);
    film.height = number(16);
    film.pixels = stored::kGray16;
    const std::uint64_t image = frame_bytes(film, *file);
    if (choice.channel > 2)
        throw UsageError("channel = " + std::to_string(choice.channel) + " is not in '" + file->path() +
                         "'; allowed: 1 (flux), 2 (light).");
    film.stride = 2 * image;
    film.offset = kHeader + (choice.channel == 2 ? image : 0);
    if (choice.channel != 2)
        film.facts.quantity = {"flux", "flux", "1", Measure::flow};
    film.time_ns = steady_times((third ? 1e6 : 1e3) / static_cast<double>(number(24)));
    return film;
}

constexpr std::array<FilmFormat, 6> kFormats = {
    {{"Postnov RLS", ".rls", "", rls_layout},
     {"FOIL contrast", ".sc", "", foil_contrast_layout},
     {"FOIL raw", ".raw", "", foil_raw_layout},
     {"Holovibes", ".holo", "HOLO", holo_layout},
     {"Phantom Cine", ".cine", std::string_view("CI\x2c\0", 4), cine_layout},
     {"moor FLPI", ".mlf", "", moor_layout}}};

} // namespace

std::span<const FilmFormat> film_formats() { return kFormats; }

std::string film_names() {
    std::string names;
    for (const FilmFormat& format : kFormats)
        names +=
            (names.empty() ? "" : ", ") + std::string(format.name) + " (" + std::string(format.ending) + ")";
    return names;
}

const FilmFormat* film_format(std::string_view path, std::string_view head) {
    const std::string ending = lower_ending(path);
    for (const FilmFormat& format : kFormats)
        if (format.magic.empty() ? format.ending == ending : head.starts_with(format.magic))
            return &format;
    return nullptr;
}

bool has_film_ending(std::string_view path) {
    const std::string ending = lower_ending(path);
    return ending != ".raw" && std::any_of(kFormats.begin(), kFormats.end(),
                                           [&](const FilmFormat& format) { return format.ending == ending; });
}

bool is_foil_raw(const std::string& path) {
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing) || std::filesystem::exists(path + ".jsonl", missing))
        return false;
    try {
        (void)foil_raw_layout(std::make_shared<const FilmBytes>(path), {});
        return true;
    } catch (const RunError&) {
        return false;
    }
}

} // namespace specklescope
