#include "files/film_array.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace specklescope {

namespace {

template <class T> float number(const std::byte* from, bool swapped) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    if (swapped)
        std::reverse(bytes.begin(), bytes.end());
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return static_cast<float>(value);
}

/// IEEE 754 binary16.
float half_number(const std::byte* from, bool swapped) {
    std::array<std::byte, 2> bytes{from[swapped ? 1 : 0], from[swapped ? 0 : 1]};
    const auto bits = std::bit_cast<std::uint16_t>(bytes);
    const int exponent = bits >> 10 & 31;
    const auto fraction = static_cast<float>(bits & 1023);
    const float size = exponent == 0    ? std::ldexp(fraction, -24)
                       : exponent == 31 ? (fraction == 0 ? HUGE_VALF : NAN)
                                        : std::ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

/// A byte that is 0 or not.
float truth(const std::byte* from, bool) { return *from != std::byte{0} ? 1 : 0; }

constexpr std::array kKinds = {
    NumberKind{"f2", 2, half_number},
    NumberKind{"f4", 4, number<float>},
    NumberKind{"f8", 8, number<double>},
    NumberKind{"f16", sizeof(long double), number<long double>}, // numpy's name for this machine's own type
    NumberKind{"u1", 1, number<std::uint8_t>},
    NumberKind{"u2", 2, number<std::uint16_t>},
    NumberKind{"u4", 4, number<std::uint32_t>},
    NumberKind{"u8", 8, number<std::uint64_t>},
    NumberKind{"i1", 1, number<std::int8_t>},
    NumberKind{"i2", 2, number<std::int16_t>},
    NumberKind{"i4", 4, number<std::int32_t>},
    NumberKind{"i8", 8, number<std::int64_t>},
    NumberKind{"b1", 1, truth},
};

/// True if two sides have the ratio of a camera's frame, upright or turned.
bool like_a_frame(std::uint64_t a, std::uint64_t b) {
    constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 6> kRatios = {
        {{1, 1}, {5, 4}, {4, 3}, {3, 2}, {16, 10}, {16, 9}}};
    const auto [low, high] = std::minmax(a, b);
    return std::any_of(kRatios.begin(), kRatios.end(), [low = low, high = high](const auto& ratio) {
        return low * ratio.first == high * ratio.second;
    });
}

/// True if a film of three axes may have its frames in the first two.
bool time_may_be_last(const std::vector<std::uint64_t>& sides) {
    constexpr double kNarrow = 4;
    const auto narrow = [&](std::size_t a, std::size_t b) {
        const auto [low, high] = std::minmax(sides[a], sides[b]);
        return static_cast<double>(high) > kNarrow * static_cast<double>(low);
    };
    const bool square = sides[0] == sides[1] && sides[1] != sides[2];
    return square || (like_a_frame(sides[0], sides[1]) && !like_a_frame(sides[1], sides[2])) ||
           (narrow(1, 2) && !narrow(0, 1));
}

template <class T> void convert(const FilmAxes& axes, const NumberKind& number, bool swapped,
                                const std::byte* from, std::span<std::byte> to) {
    const float scale = number.name == "b1" ? 255.0F : 1.0F; // false and true: black and white
    const std::uint64_t channels = axes.side('c') < 3 ? 1 : 3;
    const std::size_t down = axes.step('h') * number.bytes, right = axes.step('w') * number.bytes,
                      next = axes.step('c') * number.bytes;
    std::byte* at = to.data();
    for (std::uint64_t y = 0; y < axes.side('h'); ++y)
        for (std::uint64_t x = 0; x < axes.side('w'); ++x)
            for (std::uint64_t c = 0; c < channels; ++c, at += sizeof(T)) {
                const T sample =
                    static_cast<T>(scale * number.value(from + y * down + x * right + c * next, swapped));
                std::memcpy(at, &sample, sizeof(T));
            }
}

} // namespace

PixelType NumberKind::pixels() const {
    return name == "u1" || name == "b1" ? PixelType::u8 : name == "u2" ? PixelType::u16 : PixelType::f32;
}

const NumberKind* number_kind(std::string_view name) {
    const auto at =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const NumberKind& kind) { return kind.name == name; });
    return at == kKinds.end() ? nullptr : &*at;
}

std::string number_kinds() {
    std::string names;
    for (const NumberKind& kind : kKinds)
        names += (names.empty() ? "" : ", ") + std::string(kind.name);
    return names;
}

std::uint64_t FilmAxes::side(char axis) const {
    const std::size_t at = letters.find(axis);
    return at == std::string::npos ? 1 : sides[at];
}

std::uint64_t FilmAxes::step(char axis) const {
    const std::size_t at = letters.find(axis);
    std::uint64_t step = at == std::string::npos ? 0 : 1;
    for (std::size_t faster = at; step > 0 && ++faster < sides.size();)
        step *= sides[faster];
    return step;
}

std::string FilmAxes::text() const {
    std::string text;
    for (const std::uint64_t side : sides)
        text += (text.empty() ? "" : "×") + std::to_string(side);
    return text;
}

std::string NamedArray::text() const {
    return name + (sides.empty() ? "" : " (" + FilmAxes{.sides = sides}.text() + ")");
}

std::size_t choose_array(const std::vector<NamedArray>& arrays, std::string_view asked,
                         const std::string& file) {
    constexpr std::size_t kListed = 12;
    const auto bare = [](std::string_view name) { return name.substr(name.starts_with('/') ? 1 : 0); };
    const auto is_stack = [](const NamedArray& array) { return array.sides.size() == 3; };
    const auto asked_for = [&](const NamedArray& array) { return bare(array.name) == bare(asked); };
    auto found = std::find_if(arrays.begin(), arrays.end(), asked_for);
    if (asked.empty())
        found = arrays.size() == 1 ? arrays.begin()
                : std::count_if(arrays.begin(), arrays.end(), is_stack) == 1
                    ? std::find_if(arrays.begin(), arrays.end(), is_stack)
                    : arrays.end();
    if (found != arrays.end())
        return static_cast<std::size_t>(found - arrays.begin());
    if (arrays.empty())
        throw RunError("'" + file + "' holds no array of two or three axes of real numbers.");
    std::string listed;
    for (std::size_t i = 0; i < std::min(kListed, arrays.size()); ++i)
        listed += (i == 0 ? "" : ", ") + arrays[i].text();
    throw UsageError("'" + file + "' holds " +
                     (asked.empty() ? "several arrays" : "no array " + std::string(asked)) + ": " + listed +
                     (arrays.size() > kListed ? ", …" : "") + ". Choose one with ?path=" + arrays[0].name +
                     ".");
}

FilmAxes film_axes(std::vector<std::uint64_t> sides, const std::string& asked, const std::string& usual,
                   const std::string& array) {
    FilmAxes axes{.sides = std::move(sides),
                  .letters = asked.empty() ? usual : asked,
                  .assumed = asked.empty() ? usual : ""};
    const std::string what = array + " (" + axes.text() + ")";
    const bool stack = axes.letters == "thw" || axes.letters == "twh";
    if (axes.letters.empty() || (stack && asked.empty() && time_may_be_last(axes.sides))) {
        const std::string first = stack ? axes.letters : "thw", last = first.substr(1) + "t";
        throw UsageError("The axes of " + what + " may be " + first + " or " + last +
                         " (time, height and width, the slowest first). Choose with ?axes=" + first +
                         " or ?axes=" + last + ".");
    }
    std::string sorted = axes.letters;
    std::sort(sorted.begin(), sorted.end());
    const std::uint64_t colours = axes.side('c');
    if ((sorted != "hw" && sorted != "htw" && sorted != "chw" && sorted != "chtw") ||
        sorted.size() != axes.sides.size() || (colours != 1 && colours != 3 && colours != 4))
        throw UsageError("axes = " + asked + " does not name the axes of " + what +
                         "; allowed: a letter for each, in the order of the file: t (time), h (height), w "
                         "(width), c (1, 3 or 4 colours).");
    return axes;
}

FilmLayout film_of_array(std::string kind, const FilmAxes& axes, const NumberKind& number, bool swapped,
                         std::function<const std::byte*(std::uint64_t frame)> frame_at) {
    FilmLayout film{
        .kind = std::move(kind), .width = axes.side('w'), .height = axes.side('h'), .frames = axes.side('t')};
    film.pixels.type = number.pixels();
    film.pixels.channels = axes.side('c') < 3 ? 1 : 3;
    if (film.pixels.type == PixelType::f32 && number.name != "f4" && number.name != "f2")
        film.remarks.push_back("holds numbers of type " + std::string(number.name) +
                               ", which become 32-bit float");
    if (axes.assumed.size() > 2)
        film.remarks.push_back("names no axes; axes = " + axes.assumed + " is assumed");
    film.fetch = [axes, number, swapped, frame_at = std::move(frame_at)](std::uint64_t frame,
                                                                         std::span<std::byte> to) {
        const std::byte* const from = frame_at(frame);
        switch (number.pixels()) {
        case PixelType::u8:
            return convert<std::uint8_t>(axes, number, swapped, from, to);
        case PixelType::u16:
            return convert<std::uint16_t>(axes, number, swapped, from, to);
        case PixelType::f32:
            return convert<float>(axes, number, swapped, from, to);
        }
    };
    return film;
}

} // namespace specklescope
