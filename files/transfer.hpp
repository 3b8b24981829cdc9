// Coding of an image's values, and the light they represent.
#pragma once

#include "pipeline/frame.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Conversion from code values to light: 0 stays 0, and the largest code becomes 1.
struct Transfer {
    enum class Kind : std::uint8_t { linear, srgb, gamma, curve };
    Kind kind = Kind::linear;
    double gamma = 1;                                 ///< light = code^gamma
    std::string name;                                 ///< of a curve
    std::function<double(double, int channel)> curve; ///< of a curve: light of a code 0…1

    bool linear() const { return kind == Kind::linear || (kind == Kind::gamma && gamma == 1); }
    double light(double code, int channel) const;
};
/// "linear", "sRGB", "gamma 2.2", "the ICC profile 'Adobe RGB (1998)'".
std::string to_string(const Transfer& transfer);

/// "linear", "srgb", "gamma:2.2"; nothing for "auto". Throws UsageError for anything else; exponents 0.1…10.
std::optional<Transfer> parse_transfer(std::string_view text);

/// Coding stated by a file, or assumed for its format.
struct Coding {
    Transfer transfer;
    Light light = Light::counts; ///< of the decoded values
    std::string by;              ///< origin: "its sRGB chunk"; empty: none
    std::string why{};           ///< for an assumption: "as colour PNG pictures are"
    bool recorded = false;       ///< a recording of this program, already decoded
};
/// "sRGB (its sRGB chunk)", "linear (assumed, as a camera counts)".
std::string to_string(const Coding& coding);

// Codings from file metadata; nothing if there is no information.
Coding assumed_srgb(std::string why);
Coding assumed_linear(Light light = Light::counts);
/// gAMA: light = code^(1/exponent).
std::optional<Coding> coding_of_gamma(double encoding_exponent);
/// An ICC profile with tone curves for RGB or grey (lcms2).
std::optional<Coding> coding_of_icc(const void* profile, std::size_t bytes);
/// Exif block of a JPEG file, from "Exif" on (libexif): ColorSpace, Gamma, Adobe RGB by its index.
std::optional<Coding> coding_of_exif(const unsigned char* block, std::size_t bytes);
/// Orientation of the same block, 1…8; 0: not stated.
unsigned orientation_of_exif(const unsigned char* block, std::size_t bytes);
/// Exif ColorSpace: 1 is sRGB; other values are unknown.
std::optional<Coding> coding_of_color_space(unsigned value);
/// Tables of light, 0…65535, for all codes in equal steps; one per channel or one for all.
std::optional<Coding> coding_of_tables(std::vector<std::vector<std::uint16_t>> tables);

/// Converts code values to light in f32: divides by full_scale and decodes; `full_scale` 0: the type's, 1 for
/// f32. Integers use a table, exact up to the rounding of f32.
class Decoder {
public:
    Decoder() = default;
    Decoder(Transfer transfer, PixelType type, double full_scale);
    /// `to`: f32 of the same size. Throws Cancelled (base/long_work.hpp).
    void run(ConstHostView from, HostView to) const;

private:
    Transfer transfer_;
    double full_scale_ = 1;
    std::vector<float> table_; ///< integers: every code, per channel
    std::size_t codes_ = 0;
};

} // namespace specklescope
