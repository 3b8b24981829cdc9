#include "config/look/first_look.hpp"

#include "base/error.hpp"
#include "base/system.hpp"
#include "config/look/frame_reader.hpp"
#include "files/film_file.hpp"
#include "pipeline/mapping.hpp"
#include "sources/registry.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>

namespace specklescope {

namespace {

/// Every n-th pixel of the frame.
template <class T> std::vector<T> thinned(ConstHostView image, int step, const Shape& small) {
    std::vector<T> out;
    out.reserve(small.samples());
    const auto view = image.as<T>();
    for (int y = 0; y < small.height; ++y) {
        const T* row = view.row(std::min(y * step + step / 2, image.shape.height - 1));
        for (int x = 0; x < small.width; ++x) {
            const int column = std::min(x * step + step / 2, image.shape.width - 1);
            for (int c = 0; c < image.shape.channels; ++c)
                out.push_back(row[column * image.shape.channels + c]);
        }
    }
    return out;
}

void picture_of(ConstHostView image, int side, FirstLook& look) {
    const int longest = std::max(image.shape.width, image.shape.height);
    const int step = std::max(1, (longest + side - 1) / side);
    Shape small = image.shape;
    look.width = small.width = std::max(1, image.shape.width / step);
    look.height = small.height = std::max(1, image.shape.height / step);
    look.rgb.resize(static_cast<std::size_t>(small.width) * static_cast<std::size_t>(small.height) * 3);
    const Shape colours{small.width, small.height, 3, PixelType::u8};
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const std::vector<T> pixels = thinned<T>(image, step, small);
        const ConstHostView view(reinterpret_cast<const std::byte*>(pixels.data()), small);
        map_colors(view, ColorMap::grey, percentile_range(view, 0.5, 99.5), ToneCurve::linear,
                   HostView(reinterpret_cast<std::byte*>(look.rgb.data()), colours));
        return 0;
    });
}

} // namespace

namespace {

/// Path of the files of a source; empty: none.
std::string path_of(const SourceArgument& source) {
    try {
        const SourceText text = parse_source_text(source.revealed());
        return is_file_kind(text.kind) ? text.target : "";
    } catch (const UsageError&) {
        return "";
    }
}

bool has_raw_ending(const std::string& name) {
    const std::string ending = lower_ending(name);
    return ending == ".raw" || ending == ".bin" || ending == ".dat";
}

} // namespace

bool is_headerless(const std::string& path) {
    return has_raw_ending(path) && !(lower_ending(path) == ".raw" && is_foil_raw(path));
}

bool looks_like_source(const std::string& name) {
    static constexpr std::array<std::string_view, 8> kVideo = {".mkv",  ".mp4", ".avi", ".mov",
                                                               ".webm", ".mpg", ".ts",  ".m4v"};
    static constexpr std::array<std::string_view, 6> kArrays = {".npy",  ".npz", ".h5",
                                                                ".hdf5", ".nwb", ".mat"};
    return has_raw_ending(name) || has_image_ending(name) || has_film_ending(name) ||
           std::find(kArrays.begin(), kArrays.end(), lower_ending(name)) != kArrays.end() ||
           std::find(kVideo.begin(), kVideo.end(), lower_ending(name)) != kVideo.end();
}

FirstLook first_look(const SourceArgument& text, int side, std::chrono::milliseconds patience) {
    const std::string path = path_of(text);
    if (path.empty())
        throw UsageError("'" + text.shown() + "' is not a file and has no preview. Open it.");
    std::error_code ignored;
    if (const auto status = std::filesystem::status(path, ignored);
        std::filesystem::exists(status) && std::filesystem::is_other(status))
        throw UsageError("'" + text.shown() +
                         "' is a pipe or a device; a preview would consume frames. Open it.");
    FrameReader reader(text);
    const std::optional<Frame> frame = reader.next(patience);
    if (!frame)
        throw RunError("'" + text.shown() + "' has no frames.");
    const SourceInfo& info = reader.info();
    FirstLook look;
    look.shape = frame->shape();
    look.frames = reader.source().length() > 0 ? reader.source().length() : info.frames;
    look.rate = info.rate;
    look.exposure_ms = frame->info().exposure_ms;
    look.full_scale = frame->info().full_scale;
    look.stored_full_scale = info.stored_full_scale;
    picture_of(frame->host(), side, look);
    return look;
}

std::uint64_t file_stamp(const SourceArgument& source) {
    const std::string path = path_of(source);
    std::error_code error;
    const auto changed = std::filesystem::last_write_time(path, error);
    if (path.empty() || error)
        return 0;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    return static_cast<std::uint64_t>(changed.time_since_epoch().count()) * 31 + (error ? 1 : bytes) * 2 + 1;
}

bool names_files(const SourceArgument& source) { return !path_of(source).empty(); }

bool names_kind(const std::string& text) {
    return source_type(text.substr(0, text.find_first_of(":?"))) != nullptr;
}

bool is_gone(const SourceArgument& source) {
    const std::string path = path_of(source);
    std::error_code ignored;
    // A pattern names several, and none by this name.
    return !path.empty() && path.find_first_of("%*#") == std::string::npos &&
           !std::filesystem::exists(path, ignored);
}

std::vector<std::pair<std::string, std::string>> cameras_now() {
    std::vector<std::pair<std::string, std::string>> cameras;
    for (const SourceType& type : source_types())
        if (type.discover)
            for (auto& camera : type.discover())
                cameras.push_back(std::move(camera));
    return cameras;
}

} // namespace specklescope
