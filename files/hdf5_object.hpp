// Objects of libhdf5. Only source files of the list in CMakeLists.txt include this.
#pragma once

#define H5_USE_110_API // NOLINT(readability-identifier-naming): one interface for HDF5 1.10 to 1.14
#include <hdf5.h>

#include <mutex>
#include <string_view>
#include <utility>

namespace specklescope {

/// Debian's library is not made for several threads at once: required for each of its calls.
std::mutex& hdf5_mutex();

/// An object of the library; requires hdf5_mutex(), also for its end.
class H5Object {
public:
    using Close = herr_t (*)(hid_t);
    H5Object() = default;
    H5Object(hid_t id, Close end) : id_(id), close_(end) {}
    H5Object(H5Object&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    H5Object& operator=(H5Object&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    H5Object(const H5Object&) = delete;
    H5Object& operator=(const H5Object&) = delete;
    ~H5Object() { (void)close(); }
    /// False if it, or what is not written yet, could not be stored.
    bool close() noexcept {
        const hid_t id = std::exchange(id_, -1);
        return id < 0 || close_(id) >= 0;
    }
    explicit operator bool() const { return id_ >= 0; }
    hid_t id() const { return id_; }

private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

/// Places of a recording's texts (describe_file(), describe_frame()) in the file.
inline constexpr const char* kH5Description = "/settings/description"; ///< of the file
inline constexpr const char* kH5Lines = "/settings/frames";            ///< of the frames, one after another
inline constexpr const char* kH5Ends = "/settings/frame_ends";         ///< end of the text of each frame

} // namespace specklescope
