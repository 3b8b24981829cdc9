#include "files/npy_file.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "pipeline/image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18; ///< numbers per read
constexpr std::string_view kMagic = "\x93NUMPY";

struct Header {
    std::string descr;
    bool fortran = false;
    std::vector<std::size_t> shape;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw RunError("'" + path + "' is not a readable NPY file: " + why + ".");
}

void read_exactly(std::FILE* file, void* to, std::size_t bytes, const std::string& path) {
    if (std::fread(to, 1, bytes, file) != bytes)
        refuse(path, "it is cut short");
}

/// Text after `key` and its colon in the header's dictionary.
std::string_view value_of(std::string_view text, std::string_view key, const std::string& path) {
    const std::size_t at = text.find(key);
    const std::size_t colon = at == std::string_view::npos ? at : text.find(':', at + key.size());
    if (colon == std::string_view::npos)
        refuse(path, "its header has no " + std::string(key));
    text.remove_prefix(colon + 1);
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::vector<std::size_t> parse_shape(std::string_view text, const std::string& path) {
    const std::size_t end = text.find(')');
    if (!text.starts_with('(') || end == std::string_view::npos)
        refuse(path, "its header has no shape");
    text = text.substr(1, end - 1);
    std::vector<std::size_t> shape;
    for (;;) {
        text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
        if (text.empty())
            break;
        std::size_t side = 0;
        const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), side);
        if (error != std::errc{} || shape.size() == 4)
            refuse(path, "its shape is not one to four numbers");
        shape.push_back(side);
        text.remove_prefix(static_cast<std::size_t>(next - text.data()));
    }
    return shape;
}

Header read_header(std::FILE* file, const std::string& path) {
    std::array<unsigned char, 8> head{};
    read_exactly(file, head.data(), head.size(), path);
    if (std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0)
        refuse(path, "it does not begin as one");
    std::array<unsigned char, 4> length{};
    read_exactly(file, length.data(), head[6] == 1 ? 2 : 4, path);
    const std::size_t bytes =
        length[0] | length[1] << 8U | length[2] << 16U | static_cast<std::size_t>(length[3]) << 24U;
    constexpr std::size_t kLongest = 1U << 20;
    if (head[6] < 1 || head[6] > 3 || bytes > kLongest)
        refuse(path, "its version is " + std::to_string(head[6]) + "; allowed: 1, 2, 3");
    std::string text(bytes, '\0');
    read_exactly(file, text.data(), bytes, path);
    const std::string_view descr = value_of(text, "'descr'", path);
    const std::size_t quote = descr.find('\'', 1);
    if (!descr.starts_with('\'') || quote == std::string_view::npos)
        refuse(path, "it holds a structure; allowed: one array of numbers");
    return {std::string(descr.substr(1, quote - 1)),
            value_of(text, "'fortran_order'", path).starts_with("True"),
            parse_shape(value_of(text, "'shape'", path), path)};
}

const NumberKind& kind_of(const std::string& descr, const std::string& path) {
    const NumberKind* const kind =
        number_kind(std::string_view(descr).substr(std::min<std::size_t>(1, descr.size())));
    if (!kind || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
        refuse(path, "it holds '" + descr + "'; allowed: " + number_kinds());
    return *kind;
}

/// Bytes of the array; throws before anything of that size is allocated.
std::size_t check_size(const Header& header, const NumberKind& kind, std::uint64_t most, std::uint64_t size,
                       const std::string& path) {
    std::size_t bytes = kind.bytes;
    for (const std::size_t side : header.shape) {
        if (side == 0 || side > most || bytes > most / side)
            refuse(path, "it claims an array that is empty or too large");
        bytes *= side;
    }
    if (header.shape.empty() || (size > 0 && size < bytes))
        refuse(path, header.shape.empty() ? "it contains a single number, not an array" : "it is cut short");
    return bytes;
}

} // namespace

bool is_npy(const std::string& path) {
    const InputFile file = open_input(path);
    std::array<char, kMagic.size()> head{};
    return std::fread(head.data(), 1, head.size(), file.get()) == head.size() &&
           std::string_view(head.data(), head.size()) == kMagic;
}

NpyFile::NpyFile(const std::string& path, std::uint64_t most)
    : NpyFile(path, open_input(path), input_size(path), most) {}

NpyFile::NpyFile(const std::string& path, InputFile file, std::uint64_t size, std::uint64_t most)
    : path_(path), file_(std::move(file)) {
    Header header = read_header(file_.get(), path);
    kind_ = &kind_of(header.descr, path);
    offset_ = static_cast<std::uint64_t>(std::ftell(file_.get()));
    count_ = check_size(header, *kind_, most, size, path) / kind_->bytes;
    swap_ = header.descr[0] == (std::endian::native == std::endian::little ? '>' : '<');
    fortran_ = header.fortran;
    shape_ = std::move(header.shape);
    strides_.assign(shape_.size(), 1);
    for (std::size_t axis = shape_.size() - 1; axis-- > 0;)
        strides_[axis] = strides_[axis + 1] * shape_[axis + 1];
    at_.assign(shape_.size(), 0);
}

/// Moves to the next number in Fortran order: the first axis runs fastest.
void NpyFile::step() {
    for (std::size_t axis = 0; axis < shape_.size() && ++at_[axis] == shape_[axis]; ++axis)
        at_[axis] = 0;
}

NpyFile::Piece NpyFile::next() {
    work_goes_on("reading '" + path_ + "'", static_cast<double>(done_) / static_cast<double>(count_));
    const std::size_t now = std::min(kPiece, count_ - done_);
    read_.resize(now * kind_->bytes);
    values_.resize(now);
    places_.resize(now);
    read_exactly(file_.get(), read_.data(), read_.size(), path_);
    for (std::size_t i = 0; i < now; ++i)
        values_[i] = kind_->value(read_.data() + i * kind_->bytes, swap_);
    if (!fortran_)
        std::iota(places_.begin(), places_.end(), done_);
    else
        for (std::size_t i = 0; i < now; ++i, step())
            places_[i] = std::inner_product(at_.begin(), at_.end(), strides_.begin(), std::size_t{0});
    done_ += now;
    return {values_, places_};
}

std::vector<float> NpyFile::rest() {
    check_memory(count_ * sizeof(float), "'" + path_ + "'", "give a smaller array");
    std::vector<float> all;
    fill_up(all, count_, 0.0F, "reading '" + path_ + "'");
    for (Piece piece = next(); !piece.values.empty(); piece = next())
        for (std::size_t i = 0; i < piece.values.size(); ++i)
            all[piece.places[i]] = piece.values[i];
    return all;
}

void NpyFile::check_count(std::size_t most) const {
    if (count_ > most)
        refuse(path_, "it holds " + std::to_string(count_) + " numbers, more than the " +
                          std::to_string(most) + " that can be of use here");
}

NpyArray read_npy(const std::string& path, std::size_t most) {
    NpyFile file(path);
    file.check_count(most);
    return {file.shape(), file.rest()};
}

} // namespace specklescope
