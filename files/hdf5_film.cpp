// Arrays of HDF5 files (.h5, .nwb) and of MATLAB's files of version 7.3 (.mat), which are HDF5, as films.
//
// Only datasets that hard links reach are offered, and virtual datasets, external storage and plug-in filters
// are refused: a file cannot make the program read another file or load code.
#include "base/error.hpp"
#include "files/film_array.hpp"
#include "have_hdf5.hpp"

#ifdef SPECKLESCOPE_HAVE_HDF5
#include "base/memory_budget.hpp"
#include "files/hdf5_object.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_HDF5

std::mutex& hdf5_mutex() {
    static std::mutex mutex;
    return mutex;
}

namespace {

/// A dataset of numbers.
struct H5Array {
    std::string name; ///< "/raw/frames"
    std::vector<hsize_t> dims;
    PixelType type = PixelType::f32; ///< that its numbers become
    bool exact = true;               ///< they are stored in this type
    bool matlab = false;             ///< written by MATLAB: its axes are reversed
    NamedArray named() const { return {name, {dims.begin(), dims.end()}}; }
};

std::optional<H5Array> h5_array(hid_t file, const std::string& name) {
    constexpr int kMostAxes = 3;
    const H5Object set(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set)
        return std::nullopt;
    const H5Object type(H5Dget_type(set.id()), H5Tclose), space(H5Dget_space(set.id()), H5Sclose);
    if (!type || !space || H5Sget_simple_extent_type(space.id()) != H5S_SIMPLE)
        return std::nullopt;
    const H5T_class_t kind = H5Tget_class(type.id());
    const int rank = H5Sget_simple_extent_ndims(space.id());
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || rank < 1 || rank > kMostAxes)
        return std::nullopt;
    H5Array array{.name = name, .dims = std::vector<hsize_t>(static_cast<std::size_t>(rank))};
    if (H5Sget_simple_extent_dims(space.id(), array.dims.data(), nullptr) != rank)
        return std::nullopt;
    const std::size_t bytes = H5Tget_size(type.id());
    const bool plain = kind == H5T_INTEGER && H5Tget_sign(type.id()) == H5T_SGN_NONE;
    array.type = plain && bytes == 1 ? PixelType::u8 : plain && bytes == 2 ? PixelType::u16 : PixelType::f32;
    array.exact = array.type != PixelType::f32 || (kind == H5T_FLOAT && bytes <= sizeof(float));
    array.matlab = H5Aexists(set.id(), "MATLAB_class") > 0;
    return array;
}

/// All arrays of at most three axes. Links into other files are not followed.
std::vector<H5Array> h5_arrays(hid_t file) {
    constexpr std::size_t kMost = 10'000;
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5O_info_t* info, void* to) -> herr_t {
        auto& all = *static_cast<std::vector<std::string>*>(to);
        if (info->type == H5O_TYPE_DATASET && name[0] != '#') // MATLAB's own groups: #refs#
            all.push_back("/" + std::string(name));
        return all.size() < kMost ? 0 : 1;
    };
    (void)H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, add, &names);
    std::vector<H5Array> arrays;
    for (const std::string& name : names)
        if (std::optional<H5Array> array = h5_array(file, name))
            arrays.push_back(std::move(*array));
    return arrays;
}

/// Named by hard links only, which do not lead into another file.
bool has_own(hid_t file, const std::string& name) {
    for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
        const std::string part = name.substr(0, end);
        H5L_info_t link{};
        if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0 ||
            H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
            return false;
        if (end == std::string::npos)
            return true;
    }
}

bool is_film(const H5Array& array) { return array.dims.size() > 1; }

FilmAxes h5_axes(const H5Array& array, const std::string& asked, const std::string& file) {
    // An array of MATLAB is height × width × time there, where the first axis runs fastest.
    const std::string usual = array.dims.size() == 3 ? (array.matlab ? "twh" : "thw")
                              : array.matlab         ? "wh"
                                                     : "hw";
    return film_axes(array.named().sides, asked, usual, "the array " + array.name + " of '" + file + "'");
}

/// Refuses what leads out of the file. Returns the bytes of a chunk; 0: not chunked.
std::uint64_t check_storage(hid_t set, const H5Array& array, std::size_t each, const std::string& file) {
    const H5Object made(H5Dget_create_plist(set), H5Pclose);
    const std::string what = "The array " + array.name + " of '" + file + "' ";
    const H5D_layout_t layout = H5Pget_layout(made.id());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(made.id()) > 0)
        throw RunError(what + "lies in other files, which are not read. Copy it into one file.");
    for (int i = 0; i < H5Pget_nfilters(made.id()); ++i) {
        unsigned flags = 0, config = 0;
        std::size_t values = 0;
        std::array<char, 64> name{};
        const H5Z_filter_t filter = H5Pget_filter2(made.id(), static_cast<unsigned>(i), &flags, &values,
                                                   nullptr, name.size(), name.data(), &config);
        if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
            throw RunError(what + "is compressed by filter " + std::to_string(filter) + " (" + name.data() +
                           "), which is not built in. Save it with gzip or without compression.");
    }
    std::vector<hsize_t> chunk(array.dims.size());
    if (layout != H5D_CHUNKED || H5Pget_chunk(made.id(), static_cast<int>(chunk.size()), chunk.data()) < 0)
        return 0;
    const double bytes =
        std::accumulate(chunk.begin(), chunk.end(), static_cast<double>(each),
                        [](double all, hsize_t side) { return all * static_cast<double>(side); });
    const auto rounded = static_cast<std::uint64_t>(std::min(bytes, 1e18));
    check_memory(rounded, "A chunk of '" + file + "'", "save it with smaller chunks");
    return rounded;
}

/// An open dataset whose frames are read one by one.
class H5Frames {
public:
    H5Frames(const std::string& path, const StackChoice& choice) : path_(path) {
        const std::lock_guard lock(hdf5_mutex());
        (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // reported by our own errors
        (void)H5PLset_loading_state(0);
        for (const unsigned way : {H5F_ACC_RDONLY, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ}) // or being written
            if (!file_)
                file_ = H5Object(H5Fopen(path.c_str(), way, H5P_DEFAULT), H5Fclose);
        if (!file_)
            throw RunError("'" + path +
                           "' is not a readable HDF5 file: it is damaged or cut short, or "
                           "this program is recording it.");
        arrays_ = h5_arrays(file_.id());
        std::vector<H5Array> films;
        std::copy_if(arrays_.begin(), arrays_.end(), std::back_inserter(films), is_film);
        std::vector<NamedArray> names;
        names.reserve(films.size());
        for (const H5Array& film : films)
            names.push_back(film.named());
        array_ = films[choose_array(names, choice.path, path)];
        open_texts();
        const std::string asked = choice.axes.empty() ? nwb_axes() : choice.axes;
        axes_ = h5_axes(array_, ours_.empty() ? asked : "thw", path);
        open_set();
    }
    H5Frames(const H5Frames&) = delete;
    H5Frames& operator=(const H5Frames&) = delete;
    ~H5Frames() {
        const std::lock_guard lock(hdf5_mutex());
        set_ = {};
        lines_ = {};
        ends_ = {};
        file_ = {};
    }

    FilmLayout layout(const std::shared_ptr<H5Frames>& self) {
        FilmAxes one = axes_; // its numbers lie as read
        for (std::size_t axis = 0; axis < one.sides.size(); ++axis)
            one.sides[axis] = one.letters[axis] == 't' ? 1 : one.sides[axis];
        const NumberKind& kind = *number_kind(array_.type == PixelType::u8    ? "u1"
                                              : array_.type == PixelType::u16 ? "u2"
                                                                              : "f4");
        FilmLayout film = film_of_array("HDF5", one, kind, false,
                                        [self](std::uint64_t frame) { return self->frame_at(frame); });
        film.frames = axes_.side('t');
        if (!array_.exact)
            film.remarks.emplace_back("holds numbers that become 32-bit float");
        if (!ours_.empty()) {
            film.text = [self](std::uint64_t frame) { return self->text(frame); };
            film.frames = std::min<std::uint64_t>(film.frames, described_);
            if (ours_.starts_with("{\"finished\": false"))
                film.remarks.emplace_back(
                    "is not finished: it is still being recorded, or it was cut off and lacks "
                    "at most about its last second");
            return film;
        }
        if (std::count_if(arrays_.begin(), arrays_.end(), is_film) > 1)
            film.remarks.push_back("holds several arrays; " + array_.named().text() + " is read");
        read_times(film);
        return film;
    }

private:
    const std::byte* frame_at(std::uint64_t frame) {
        const std::lock_guard lock(hdf5_mutex());
        std::vector<hsize_t> start(array_.dims.size(), 0), count = array_.dims;
        if (const std::size_t time = axes_.letters.find('t'); time != std::string::npos) {
            start[time] = frame;
            count[time] = 1;
        }
        const H5Object there(H5Dget_space(set_.id()), H5Sclose);
        const H5Object here(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                            H5Sclose);
        read_.resize(frame_bytes());
        const bool good =
            H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >=
                0 &&
            H5Dread(set_.id(), memory_type(), here.id(), there.id(), H5P_DEFAULT, read_.data()) >= 0;
        if (!good)
            throw RunError("'" + path_ + "' is damaged or cut short at frame " + std::to_string(frame) +
                           " of its array " + array_.name + ", counted from 0.");
        return read_.data();
    }

    std::uint64_t frame_bytes() const {
        return axes_.side('h') * axes_.side('w') * axes_.side('c') * pixel_bytes(array_.type);
    }
    hid_t memory_type() const {
        return array_.type == PixelType::u8    ? H5T_NATIVE_UINT8
               : array_.type == PixelType::u16 ? H5T_NATIVE_UINT16
                                               : H5T_NATIVE_FLOAT;
    }

    /// The texts of a recording of this program, if the array is its frames.
    void open_texts() {
        if (array_.dims.size() != 3 || !has_own(file_.id(), kH5Description))
            return;
        const H5Object described(H5Dopen2(file_.id(), kH5Description, H5P_DEFAULT), H5Dclose);
        const H5Object type(described ? H5Dget_type(described.id()) : hid_t{-1}, H5Tclose);
        const auto find = [&](const char* name) {
            return std::find_if(arrays_.begin(), arrays_.end(), [&](const H5Array& array) {
                return array.name == name && array.dims.size() == 1;
            });
        };
        const auto lines = find(kH5Lines), ends = find(kH5Ends);
        const std::size_t bytes = type && H5Tget_class(type.id()) == H5T_STRING ? H5Tget_size(type.id()) : 0;
        const H5Object space(described ? H5Dget_space(described.id()) : hid_t{-1}, H5Sclose);
        if (lines == arrays_.end() || ends == arrays_.end() || bytes == 0 || bytes > kMostText ||
            H5Tis_variable_str(type.id()) != 0 || H5Sget_simple_extent_npoints(space.id()) != 1)
            return;
        (void)check_storage(described.id(), {.name = kH5Description, .dims = {}}, bytes, path_);
        std::string text(bytes, '\0');
        if (H5Dread(described.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0 ||
            !RecordedText().begin(text))
            return;
        lines_ = H5Object(H5Dopen2(file_.id(), kH5Lines, H5P_DEFAULT), H5Dclose);
        ends_ = H5Object(H5Dopen2(file_.id(), kH5Ends, H5P_DEFAULT), H5Dclose);
        (void)check_storage(lines_.id(), *lines, 1, path_);
        (void)check_storage(ends_.id(), *ends, sizeof(std::uint64_t), path_);
        described_ = ends->dims[0];
        ours_ = std::move(text);
    }

    /// For FilmLayout::text.
    std::string text(std::uint64_t frame) const {
        const std::lock_guard lock(hdf5_mutex());
        std::array<std::uint64_t, 2> ends{};
        std::string line;
        if (read_part(ends_.id(), frame - (frame > 0 ? 1 : 0), frame > 0 ? 2 : 1, H5T_NATIVE_UINT64,
                      ends.data() + (frame > 0 ? 0 : 1)) &&
            ends[1] >= ends[0] && ends[1] - ends[0] <= kMostText) {
            line.resize(ends[1] - ends[0]);
            if (!read_part(lines_.id(), ends[0], line.size(), H5T_NATIVE_UINT8, line.data()))
                line.clear();
        }
        if (frame > 0)
            return line;
        const std::size_t end = ours_.rfind('}');
        return ours_.substr(0, end) + (line.empty() ? "}" : ", \"frame\": " + line + "}");
    }

    static bool read_part(hid_t set, hsize_t start, hsize_t count, hid_t type, void* to) {
        const H5Object there(H5Dget_space(set), H5Sclose);
        const H5Object here(H5Screate_simple(1, &count, nullptr), H5Sclose);
        return count > 0 &&
               H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, &start, nullptr, &count, nullptr) >= 0 &&
               H5Dread(set, type, here.id(), there.id(), H5P_DEFAULT, to) >= 0;
    }

    /// Neurodata Without Borders: `dimension` next to `data` states width and height, and data are frames × x
    /// × y, or y × x if written so. Empty: not stated.
    std::string nwb_axes() const {
        const std::string group = array_.name.substr(0, array_.name.rfind('/') + 1);
        const std::string name = group + "dimension";
        const auto stated = std::find_if(arrays_.begin(), arrays_.end(), [&](const H5Array& array) {
            return array.name == name && array.dims == std::vector<hsize_t>{2};
        });
        if (stated == arrays_.end() || array_.dims.size() != 3)
            return "";
        const H5Object set(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
        (void)check_storage(set.id(), *stated, sizeof(std::uint64_t), path_);
        std::array<hsize_t, 2> sides{};
        if (!read_part(set.id(), 0, 2, H5T_NATIVE_HSIZE, sides.data()))
            return "";
        const bool x_first = sides[0] == array_.dims[1] && sides[1] == array_.dims[2];
        const bool y_first = sides[0] == array_.dims[2] && sides[1] == array_.dims[1];
        if (x_first && y_first && !describes_x_first(group))
            throw UsageError(
                "The axes of " + array_.named().text() + " in '" + path_ +
                "' may be time × x × y, as NWB defines, or time × y × x. Choose with ?axes=twh or "
                "?axes=thw.");
        return x_first ? "twh" : y_first ? "thw" : "";
    }

    /// As written by `specklescope convert`: the description of the group names the axes.
    bool describes_x_first(const std::string& group) const {
        const H5Object there(has_own(file_.id(), group.substr(0, group.size() - 1))
                                 ? H5Gopen2(file_.id(), group.c_str(), H5P_DEFAULT)
                                 : hid_t{-1},
                             H5Gclose);
        const H5Object text(there && H5Aexists(there.id(), "description") > 0
                                ? H5Aopen(there.id(), "description", H5P_DEFAULT)
                                : hid_t{-1},
                            H5Aclose);
        const H5Object type(text ? H5Aget_type(text.id()) : hid_t{-1}, H5Tclose);
        const H5Object space(text ? H5Aget_space(text.id()) : hid_t{-1}, H5Sclose);
        char* words = nullptr;
        if (!type || H5Tis_variable_str(type.id()) <= 0 || H5Sget_simple_extent_npoints(space.id()) != 1 ||
            H5Aread(text.id(), type.id(), &words) < 0 || !words)
            return false;
        const bool found = std::string_view(words).find("frame × x × y") != std::string_view::npos;
        (void)H5free_memory(words);
        return found;
    }

    /// With a cache for all chunks of a frame, so that the next one finds them.
    void open_set() {
        constexpr std::uint64_t kLeast = 1 << 20, kMost = 128 << 20;
        const H5Object first(H5Dopen2(file_.id(), array_.name.c_str(), H5P_DEFAULT), H5Dclose);
        const std::uint64_t chunk = check_storage(first.id(), array_, pixel_bytes(array_.type), path_);
        const H5Object access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
        const std::uint64_t room = std::clamp(chunk + 16 * std::min(frame_bytes(), kMost), kLeast, kMost);
        (void)H5Pset_chunk_cache(access.id(), 12'421, room, 1);
        set_ = H5Object(H5Dopen2(file_.id(), array_.name.c_str(), access.id()), H5Dclose);
        if (!set_)
            throw RunError("The array " + array_.name + " of '" + path_ + "' cannot be opened.");
    }

    /// Neurodata Without Borders: `timestamps` next to `data`, in s, or `starting_time` with a rate.
    void read_times(FilmLayout& film) {
        const std::lock_guard lock(hdf5_mutex());
        const std::string group = array_.name.substr(0, array_.name.rfind('/') + 1);
        for (const H5Array& other : arrays_)
            if (other.name == group + "timestamps" && other.dims.size() == 1 &&
                other.dims[0] == film.frames) {
                check_memory(film.frames * sizeof(double), "The times of '" + path_ + "'", "leave them out");
                std::vector<double> seconds(film.frames);
                const H5Object set(H5Dopen2(file_.id(), other.name.c_str(), H5P_DEFAULT), H5Dclose);
                (void)check_storage(set.id(), other, sizeof(double), path_);
                if (H5Dread(set.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, seconds.data()) < 0)
                    continue;
                take_times(film, seconds, "timestamps");
                return;
            }
        const std::string begin = group + "starting_time";
        const H5Object start(has_own(file_.id(), begin) ? H5Oopen(file_.id(), begin.c_str(), H5P_DEFAULT)
                                                        : hid_t{-1},
                             H5Oclose);
        if (!start || H5Aexists(start.id(), "rate") <= 0)
            return;
        double rate = 0;
        const H5Object stated(H5Aopen(start.id(), "rate", H5P_DEFAULT), H5Aclose);
        const H5Object space(H5Aget_space(stated.id()), H5Sclose);
        if (H5Sget_simple_extent_npoints(space.id()) == 1 &&
            H5Aread(stated.id(), H5T_NATIVE_DOUBLE, &rate) >= 0)
            film.time_ns = steady_times(rate);
    }

    static constexpr std::size_t kMostText = std::size_t{1} << 20; ///< longer than any that is written

    std::string path_;
    H5Object file_, set_, lines_, ends_;
    std::string ours_;            ///< description of a recording of this program; empty: another file
    std::uint64_t described_ = 0; ///< frames that have a text
    std::vector<H5Array> arrays_;
    H5Array array_;
    FilmAxes axes_;
    std::vector<std::byte> read_; ///< a frame
};

} // namespace

std::unique_ptr<ImageReader> open_hdf5(const std::string& path, const StackChoice& choice) {
    const auto bytes = std::make_shared<const FilmBytes>(path);
    const auto frames = std::make_shared<H5Frames>(path, choice);
    return open_film(bytes, frames->layout(frames));
}

#else

std::unique_ptr<ImageReader> open_hdf5(const std::string& path, const StackChoice&) {
    throw RunError("'" + path +
                   "' is an HDF5 file, and this build was made without libhdf5. Install "
                   "libhdf5-dev and build again.");
}

#endif

} // namespace specklescope
