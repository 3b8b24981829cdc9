#include "sources/aravis/camera_format.hpp"

#include <algorithm>
#include <array>

namespace specklescope {

namespace {

using F = AravisParams::Format;

constexpr auto kCameraFormats = std::to_array<CameraFormat>({
    // clang-format off
    {F::mono16, "Mono16", 0x01100007U, stored::kGray16},
    {F::mono14, "Mono14", 0x01100025U, stored::kGray14},
    {F::mono14p, "Mono14p", 0x010e0104U, stored::kMono14p},
    {F::mono12, "Mono12", 0x01100005U, stored::kGray12},
    {F::mono12p, "Mono12p", 0x010c0047U, stored::kMono12p},
    {F::mono12packed, "Mono12Packed", 0x010c0006U, stored::kMono12Packed},
    {F::mono10, "Mono10", 0x01100003U, stored::kGray10},
    {F::mono10p, "Mono10p", 0x010a0046U, stored::kMono10p},
    {F::mono10packed, "Mono10Packed", 0x010c0004U, stored::kMono10Packed},
    {F::mono8, "Mono8", 0x01080001U, stored::kGray8},
    {F::bayer16, "BayerGR16", 0x0110002eU, stored::kGray16, Bayer::grbg},
    {F::bayer16, "BayerRG16", 0x0110002fU, stored::kGray16, Bayer::rggb},
    {F::bayer16, "BayerGB16", 0x01100030U, stored::kGray16, Bayer::gbrg},
    {F::bayer16, "BayerBG16", 0x01100031U, stored::kGray16, Bayer::bggr},
    {F::bayer12, "BayerGR12", 0x01100010U, stored::kGray12, Bayer::grbg},
    {F::bayer12, "BayerRG12", 0x01100011U, stored::kGray12, Bayer::rggb},
    {F::bayer12, "BayerGB12", 0x01100012U, stored::kGray12, Bayer::gbrg},
    {F::bayer12, "BayerBG12", 0x01100013U, stored::kGray12, Bayer::bggr},
    {F::bayer12p, "BayerGR12p", 0x010c0057U, stored::kMono12p, Bayer::grbg},
    {F::bayer12p, "BayerRG12p", 0x010c0059U, stored::kMono12p, Bayer::rggb},
    {F::bayer12p, "BayerGB12p", 0x010c0055U, stored::kMono12p, Bayer::gbrg},
    {F::bayer12p, "BayerBG12p", 0x010c0053U, stored::kMono12p, Bayer::bggr},
    {F::bayer12packed, "BayerGR12Packed", 0x010c002aU, stored::kMono12Packed, Bayer::grbg},
    {F::bayer12packed, "BayerRG12Packed", 0x010c002bU, stored::kMono12Packed, Bayer::rggb},
    {F::bayer12packed, "BayerGB12Packed", 0x010c002cU, stored::kMono12Packed, Bayer::gbrg},
    {F::bayer12packed, "BayerBG12Packed", 0x010c002dU, stored::kMono12Packed, Bayer::bggr},
    {F::bayer10, "BayerGR10", 0x0110000cU, stored::kGray10, Bayer::grbg},
    {F::bayer10, "BayerRG10", 0x0110000dU, stored::kGray10, Bayer::rggb},
    {F::bayer10, "BayerGB10", 0x0110000eU, stored::kGray10, Bayer::gbrg},
    {F::bayer10, "BayerBG10", 0x0110000fU, stored::kGray10, Bayer::bggr},
    {F::bayer10p, "BayerGR10p", 0x010a0056U, stored::kMono10p, Bayer::grbg},
    {F::bayer10p, "BayerRG10p", 0x010a0058U, stored::kMono10p, Bayer::rggb},
    {F::bayer10p, "BayerGB10p", 0x010a0054U, stored::kMono10p, Bayer::gbrg},
    {F::bayer10p, "BayerBG10p", 0x010a0052U, stored::kMono10p, Bayer::bggr},
    {F::bayer10packed, "BayerGR10Packed", 0x010c0026U, stored::kMono10Packed, Bayer::grbg},
    {F::bayer10packed, "BayerRG10Packed", 0x010c0027U, stored::kMono10Packed, Bayer::rggb},
    {F::bayer10packed, "BayerGB10Packed", 0x010c0028U, stored::kMono10Packed, Bayer::gbrg},
    {F::bayer10packed, "BayerBG10Packed", 0x010c0029U, stored::kMono10Packed, Bayer::bggr},
    {F::bayer8, "BayerGR8", 0x01080008U, stored::kGray8, Bayer::grbg},
    {F::bayer8, "BayerRG8", 0x01080009U, stored::kGray8, Bayer::rggb},
    {F::bayer8, "BayerGB8", 0x0108000aU, stored::kGray8, Bayer::gbrg},
    {F::bayer8, "BayerBG8", 0x0108000bU, stored::kGray8, Bayer::bggr},
    {F::rgb8, "RGB8", 0x02180014U, stored::kRgb8},
    {F::rgb8, "RGB8Packed", 0x02180014U, stored::kRgb8},
    {F::bgr8, "BGR8", 0x02180015U, stored::kBgr8},
    {F::bgr8, "BGR8Packed", 0x02180015U, stored::kBgr8},
    {F::yuv422, "YUV422_8_UYVY", 0x0210001fU, stored::kUyvy},
    {F::yuv422, "YUV422Packed", 0x0210001fU, stored::kUyvy},
    {F::yuv422, "YUV422_8", 0x02100032U, stored::kYuyv},
    {F::yuv422, "YUV422YUYVPacked", 0x02100032U, stored::kYuyv},
    {F::yuv422, "YUYVPacked", 0x02100032U, stored::kYuyv},
    {F::yuv422, "YCbCr422_8", 0x0210003bU, stored::kYuyv},
    {F::yuv422, "YCbCr422_8_CbYCrY", 0x02100043U, stored::kUyvy},
    // clang-format on
});

} // namespace

Shape CameraFormat::shape(int width, int height) const {
    const Shape shape = pixels.shape(width, height);
    return bayer == Bayer::none ? shape : bayer_shape(shape, genicam);
}

std::span<const CameraFormat> camera_formats() { return kCameraFormats; }

const CameraFormat* find_format(std::uint32_t code) {
    const auto* found = std::find_if(kCameraFormats.begin(), kCameraFormats.end(),
                                     [&](const CameraFormat& format) { return format.code == code; });
    return found == kCameraFormats.end() ? nullptr : found;
}

std::vector<std::string> camera_format_names() {
    return {"auto",          "mono8",   "mono10",  "mono12",       "mono14",       "mono16",
            "mono10p",       "mono12p", "mono14p", "mono10packed", "mono12packed", "bayer8",
            "bayer10",       "bayer12", "bayer16", "bayer10p",     "bayer12p",     "bayer10packed",
            "bayer12packed", "rgb8",    "bgr8",    "yuv422"};
}

} // namespace specklescope
