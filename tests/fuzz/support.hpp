// Helpers of all fuzz targets: bytes as a file, choices from bytes, and requirements on errors.
#pragma once

#include "base/error.hpp"
#include "config/text.hpp"
#include "files/image_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope::fuzz {

/// Only the compiled presets are used.
inline const bool kOwnPresets = setenv("XDG_CONFIG_HOME", "/nonexistent", 1) == 0;

inline std::string_view text_of(const std::uint8_t* data, std::size_t bytes) {
    return {reinterpret_cast<const char*>(data), bytes};
}

/// Ends the program with a message: libFuzzer keeps the input.
inline void demand(bool holds, const std::string& what) {
    if (holds)
        return;
    std::fprintf(stderr, "fuzz: %s\n", what.c_str());
    std::abort();
}

/// Bytes as a file in memory.
class FileOf {
public:
    explicit FileOf(std::string_view bytes) : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
        demand(fd_ >= 0 && write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
               "the input does not fit into memory");
    }
    FileOf(const FileOf&) = delete;
    FileOf& operator=(const FileOf&) = delete;
    ~FileOf() { close(fd_); }
    std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
    int fd_;
};

/// Numbers and texts from libFuzzer's bytes; zeros after the end.
class Bytes {
public:
    explicit Bytes(std::string_view left) : left_(left) {}
    template <class T> T take() {
        T value{};
        const std::size_t bytes = std::min(sizeof value, left_.size());
        std::memcpy(&value, left_.data(), bytes);
        left_.remove_prefix(bytes);
        return value;
    }
    std::string_view rest() const { return left_; }

private:
    std::string_view left_;
};

/// An error message: not empty, one sentence with an end, no longer than the input justifies.
inline void check_sentence(std::string_view sentence, std::size_t input_bytes) {
    constexpr std::size_t kOurWords = 2000;
    demand(sentence.size() > 10, "the error says nothing: '" + std::string(sentence) + "'");
    demand(sentence.size() < kOurWords + 8 * input_bytes, "the error is longer than its cause");
    demand(sentence.back() == '.' || sentence.back() == '?',
           "the error is no whole sentence: '" + std::string(sentence) + "'");
}

/// Runs `work`; an Error must have a valid message, and any other exception is a bug. `in_file`: the error is
/// caused by a file, so that the message must be one line before one_line(). @return the message; empty on
/// success
template <class F> std::string sentence_of(std::size_t input_bytes, bool in_file, F&& work) {
    try {
        work();
        return "";
    } catch (const Error& error) {
        const std::string sentence = error.what();
        check_sentence(sentence, input_bytes);
        demand(!in_file || one_line(sentence) == sentence,
               "the error is not one line of text: '" + sentence + "'");
        return sentence;
    }
}

/// Only the header of larger pages is read.
constexpr std::size_t kMostPixels = 4U << 20;

struct Pages {
    std::vector<Shape> shapes;
    std::vector<std::vector<std::byte>> pixels; ///< of the smaller pages
    std::string sentence;                       ///< the error that ended them
    std::uint64_t said = 0;                     ///< pages(), called on the first page
};

/// The coding of a file has a one-line description, and decodes every code.
inline void check_coding(const Coding& coding) {
    const std::string text = to_string(coding);
    demand(one_line(text) == text, "the coding is not one line of text: '" + text + "'");
    for (int channel = 0; channel < 3; ++channel) {
        for (const double code : {0.0, 0.01, 0.25, 0.5, 0.99})
            demand(std::isfinite(coding.transfer.light(code, channel)),
                   "the light of code " + std::to_string(code) + " is not finite");
        demand(std::abs(coding.transfer.light(1, channel) - 1) < 1e-6,
               "the light of the largest code is not the largest");
    }
}

/// Reads a whole file with its reader, `rows` at a time.
inline Pages read_pages(std::unique_ptr<ImageReader> (*open)(const std::string&), std::string_view bytes,
                        int rows) {
    constexpr std::size_t kMostPages = 64;
    Pages pages;
    const FileOf file(bytes);
    pages.sentence = sentence_of(bytes.size(), true, [&] {
        const std::unique_ptr<ImageReader> reader = open(file.path());
        while (pages.shapes.size() < kMostPages) {
            const auto shape = reader->next_page();
            if (!shape)
                return;
            check_shape(*shape, "'" + file.path() + "'");
            if (pages.shapes.empty())
                pages.said = reader->pages();
            pages.shapes.push_back(*shape);
            (void)reader->recorded();
            (void)reader->lossy();
            check_coding(reader->coding());
            pages.pixels.emplace_back();
            if (shape->bytes() > kMostPixels)
                continue;
            std::vector<std::byte> pixels(shape->bytes());
            for (int y = 0; y < shape->height; y += rows) {
                Shape part = *shape;
                part.height = std::min(rows, shape->height - y);
                reader->read_rows(
                    HostView(pixels.data() + static_cast<std::size_t>(y) * shape->row_bytes(), part));
            }
            pages.pixels.back() = std::move(pixels);
        }
    });
    return pages;
}

/// Reading at once and in parts gives the same pages and pixels, or the same error.
inline void check_image(std::unique_ptr<ImageReader> (*open)(const std::string&), std::string_view bytes) {
    const Pages whole = read_pages(open, bytes, kMaxSide);
    const Pages again = read_pages(open, bytes, 3);
    demand(whole.sentence.empty() == again.sentence.empty(),
           "read at once: '" + whole.sentence + "'; in parts: '" + again.sentence + "'");
    demand(whole.shapes == again.shapes, "the pages differ when they are read in parts");
    demand(whole.pixels == again.pixels, "the pixels differ when they are read in parts");
    demand(!whole.sentence.empty() || whole.said == 0 || whole.said == whole.shapes.size() ||
               whole.shapes.size() == 64,
           "the file was said to have " + std::to_string(whole.said) + " pages and has " +
               std::to_string(whole.shapes.size()));
}

} // namespace specklescope::fuzz
