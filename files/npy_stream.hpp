// Where an array of NumPy lies: a file, or a member of an archive. Used only by npy_image.cpp and
// npz_file.cpp.
#pragma once

#include "files/image_file.hpp"
#include "files/input_file.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace specklescope {

struct NpyStream {
    std::string path;        ///< for errors
    std::uint64_t size = 0;  ///< bytes; 0: unknown
    bool compressed = false; ///< seeking passes over everything before
    InputFile file;
};
std::unique_ptr<ImageReader> open_npy(NpyStream stream, const StackChoice& choice);

} // namespace specklescope
