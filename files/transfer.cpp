#include "files/transfer.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "pipeline/mapping.hpp"
#include "pipeline/param.hpp"

#include <lcms2.h>
#include <libexif/exif-data.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>

namespace specklescope {

namespace {

constexpr double kLeastGamma = 0.1, kMostGamma = 10;

Coding said(Transfer transfer, std::string by) {
    return {.transfer = std::move(transfer), .light = Light::decoded, .by = std::move(by)};
}

Transfer gamma(double exponent) {
    return {.kind = Transfer::Kind::gamma, .gamma = exponent, .name = {}, .curve = {}};
}
Transfer srgb() { return {.kind = Transfer::Kind::srgb, .gamma = 1, .name = {}, .curve = {}}; }

} // namespace

double Transfer::light(double code, int channel) const {
    switch (kind) {
    case Kind::srgb:
        return srgb_decode(code);
    case Kind::gamma:
        return std::copysign(std::pow(std::abs(code), gamma), code);
    case Kind::curve:
        return curve(code, channel);
    case Kind::linear:
        break;
    }
    return code;
}

std::string to_string(const Transfer& transfer) {
    switch (transfer.kind) {
    case Transfer::Kind::srgb:
        return "sRGB";
    case Transfer::Kind::gamma:
        return "gamma " + to_string(ParamValue(transfer.gamma));
    case Transfer::Kind::curve:
        return transfer.name;
    case Transfer::Kind::linear:
        break;
    }
    return "linear";
}

std::optional<Transfer> parse_transfer(std::string_view text) {
    if (text == "auto")
        return std::nullopt;
    if (text == "linear")
        return Transfer{};
    if (text == "srgb")
        return srgb();
    constexpr std::string_view kGamma = "gamma:";
    double exponent = 0;
    if (text.starts_with(kGamma)) {
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + kGamma.size(), end, exponent);
        if (error == std::errc{} && stop == end && exponent >= kLeastGamma && exponent <= kMostGamma)
            return gamma(exponent);
    }
    throw UsageError("transfer = " + std::string(text) +
                     " is not possible; allowed: auto, linear, srgb, gamma:G with G from 0.1 to 10.");
}

std::string to_string(const Coding& coding) {
    return to_string(coding.transfer) +
           (coding.by.empty() ? " (assumed" + (coding.why.empty() ? ")" : ", " + coding.why + ")")
                              : " (" + coding.by + ")");
}

Coding assumed_srgb(std::string why) {
    return {.transfer = srgb(), .light = Light::decoded, .by = {}, .why = std::move(why)};
}

Coding assumed_linear(Light light) {
    return {
        .transfer = {}, .light = light, .by = {}, .why = light == Light::counts ? "as a camera counts" : ""};
}

std::optional<Coding> coding_of_gamma(double encoding_exponent) {
    const double exponent = 1 / encoding_exponent;
    if (!(exponent >= kLeastGamma && exponent <= kMostGamma))
        return std::nullopt;
    if (std::abs(exponent - 1) < 1e-4)
        return said({}, "its gAMA chunk");
    return said(gamma(std::round(exponent * 1e4) / 1e4), "its gAMA chunk");
}

std::optional<Coding> coding_of_icc(const void* profile, std::size_t bytes) {
    using Profile = std::unique_ptr<void, decltype(&cmsCloseProfile)>;
    const Profile open(cmsOpenProfileFromMem(profile, static_cast<cmsUInt32Number>(bytes)), cmsCloseProfile);
    if (!open)
        return std::nullopt;
    const auto curve = [&](cmsTagSignature tag) {
        const auto* found = static_cast<const cmsToneCurve*>(cmsReadTag(open.get(), tag));
        return std::shared_ptr<cmsToneCurve>(found ? cmsDupToneCurve(found) : nullptr,
                                             [](cmsToneCurve* made) { cmsFreeToneCurve(made); });
    };
    std::array<std::shared_ptr<cmsToneCurve>, 3> curves;
    if (cmsGetColorSpace(open.get()) == cmsSigGrayData)
        curves.fill(curve(cmsSigGrayTRCTag));
    else
        curves = {curve(cmsSigRedTRCTag), curve(cmsSigGreenTRCTag), curve(cmsSigBlueTRCTag)};
    if (!curves[0] || !curves[1] || !curves[2])
        return std::nullopt; // tables of another kind
    std::array<char, 128> name{};
    cmsGetProfileInfoASCII(open.get(), cmsInfoDescription, "en", "US", name.data(),
                           static_cast<cmsUInt32Number>(name.size()));
    std::array<double, 3> white{};
    for (std::size_t i = 0; i < white.size(); ++i)
        white[i] = static_cast<double>(cmsEvalToneCurveFloat(curves[i].get(), 1.0F));
    if (!(*std::min_element(white.begin(), white.end()) > 0))
        return std::nullopt;
    constexpr int kSteps = 1024;
    for (std::size_t i = 0; i < white.size(); ++i)
        for (int step = 0; step <= kSteps; ++step) {
            const float code = static_cast<float>(step) / kSteps;
            if (!std::isfinite(static_cast<float>(
                    static_cast<double>(cmsEvalToneCurveFloat(curves[i].get(), code)) / white[i])))
                return std::nullopt; // of a formula that is no light
        }
    Transfer transfer;
    transfer.kind = Transfer::Kind::curve;
    transfer.name = "the curve of '" + one_line(name.data()) + "'";
    transfer.curve = [curves, white](double code, int channel) {
        const auto i = static_cast<std::size_t>(channel);
        return static_cast<double>(cmsEvalToneCurveFloat(curves[i].get(), static_cast<float>(code))) /
               white[i];
    };
    return said(std::move(transfer), "its ICC profile");
}

std::optional<Coding> coding_of_color_space(unsigned value) {
    if (value != 1)
        return std::nullopt;
    return said(srgb(), "its Exif ColorSpace");
}

namespace {

/// Entries of an Exif block.
class ExifBlock {
public:
    ExifBlock(const unsigned char* block, std::size_t bytes)
        : data_(exif_data_new_from_data(block, static_cast<unsigned>(bytes)), exif_data_unref) {}
    explicit operator bool() const { return data_ != nullptr; }
    ExifByteOrder order() const { return exif_data_get_byte_order(data_.get()); }
    /// Null if there is none with this format and at least this number of bytes.
    const ExifEntry* entry(ExifIfd ifd, ExifTag tag, ExifFormat format, unsigned least) const {
        const ExifEntry* found = exif_content_get_entry(data_->ifd[ifd], tag);
        return found && found->format == format && found->size >= least ? found : nullptr;
    }

private:
    std::unique_ptr<ExifData, decltype(&exif_data_unref)> data_;
};

} // namespace

unsigned orientation_of_exif(const unsigned char* block, std::size_t bytes) {
    const ExifBlock exif(block, bytes);
    const ExifEntry* found =
        exif ? exif.entry(EXIF_IFD_0, EXIF_TAG_ORIENTATION, EXIF_FORMAT_SHORT, 2) : nullptr;
    const unsigned value = found ? exif_get_short(found->data, exif.order()) : 0;
    return value <= 8 ? value : 0;
}

std::optional<Coding> coding_of_exif(const unsigned char* block, std::size_t bytes) {
    const ExifBlock exif(block, bytes);
    if (!exif)
        return std::nullopt;
    const ExifByteOrder order = exif.order();
    if (const ExifEntry* space = exif.entry(EXIF_IFD_EXIF, EXIF_TAG_COLOR_SPACE, EXIF_FORMAT_SHORT, 2))
        if (auto coding = coding_of_color_space(exif_get_short(space->data, order)))
            return coding;
    if (const ExifEntry* own = exif.entry(EXIF_IFD_EXIF, EXIF_TAG_GAMMA, EXIF_FORMAT_RATIONAL, 8)) {
        const ExifRational value = exif_get_rational(own->data, order);
        const double exponent =
            value.denominator == 0 ? 0 : static_cast<double>(value.numerator) / value.denominator;
        if (exponent >= kLeastGamma && exponent <= kMostGamma)
            return said(gamma(exponent), "its Exif Gamma");
    }
    const ExifEntry* index =
        exif.entry(EXIF_IFD_INTEROPERABILITY, EXIF_TAG_INTEROPERABILITY_INDEX, EXIF_FORMAT_ASCII, 3);
    if (index && std::equal(index->data, index->data + 3, "R03"))
        return said(gamma(563.0 / 256), "its Exif index of Adobe RGB");
    return std::nullopt;
}

std::optional<Coding> coding_of_tables(std::vector<std::vector<std::uint16_t>> tables) {
    if (tables.empty() || std::any_of(tables.begin(), tables.end(),
                                      [](const auto& t) { return t.size() < 2 || t.back() == 0; }))
        return std::nullopt;
    Transfer transfer;
    transfer.kind = Transfer::Kind::curve;
    transfer.name = "a table";
    transfer.curve = [tables = std::move(tables)](double code, int channel) {
        const auto& table = tables[std::min(static_cast<std::size_t>(channel), tables.size() - 1)];
        const double at = std::clamp(code, 0.0, 1.0) * static_cast<double>(table.size() - 1);
        const auto below = std::min(static_cast<std::size_t>(at), table.size() - 2);
        const double part = at - static_cast<double>(below);
        return ((1 - part) * table[below] + part * table[below + 1]) / table.back();
    };
    return said(std::move(transfer), "its TransferFunction");
}

Decoder::Decoder(Transfer transfer, PixelType type, double full_scale)
    : transfer_(std::move(transfer)),
      full_scale_(full_scale > 0 ? full_scale : std::max(1.0, type_full_scale(type))) {
    if (type == PixelType::f32)
        return;
    codes_ = static_cast<std::size_t>(type_full_scale(type)) + 1;
    const std::size_t tables = transfer_.kind == Transfer::Kind::curve ? 3 : 1;
    table_.resize(3 * codes_);
    for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t code = 0; code < codes_; ++code)
            table_[c * codes_ + code] =
                c < tables ? static_cast<float>(transfer_.light(static_cast<double>(code) / full_scale_,
                                                                static_cast<int>(c)))
                           : table_[code];
}

void Decoder::run(ConstHostView from, HostView to) const {
    const auto out = to.as<float>();
    const int values = from.shape.width * from.shape.channels;
    const int rows = static_cast<int>(kFilledAtOnce / std::max<std::size_t>(to.shape.row_bytes(), 1)) + 1;
    dispatch(from.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto in = from.as<T>();
        for (int y = 0; y < in.height; ++y) {
            if (y % rows == 0)
                work_goes_on("decoding a picture to linear light");
            const T* const source = in.row(y);
            float* const target = out.row(y);
            for (int i = 0, channel = 0; i < values;
                 ++i, channel = channel + 1 == in.channels ? 0 : channel + 1)
                if constexpr (std::is_same_v<T, float>)
                    target[i] = static_cast<float>(
                        transfer_.light(static_cast<double>(source[i]) / full_scale_, channel));
                else
                    target[i] = table_[static_cast<std::size_t>(channel) * codes_ + source[i]];
        }
    });
}

} // namespace specklescope
