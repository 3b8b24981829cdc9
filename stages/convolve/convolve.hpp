// Linear convolution with a large kernel of any shape, by Fourier transforms (Johansson Bergström 2012):
// parameters and declaration shared by host and device.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/border.hpp"

namespace specklescope {

struct ConvolveParams {
    enum class Kernel : std::uint8_t {
        gaussian,
        disk,  ///< defocus: a disk of real radius with a smooth edge
        line,  ///< motion: a bar one pixel wide
        glare, ///< scattered light in the eye: CIE 146:2002, general disability-glare equation
        file   ///< PNG, TIFF or NPY
    };

    Kernel kernel = Kernel::gaussian;
    double sigma = 10;     ///< gaussian, px
    double radius = 10;    ///< disk, px
    double length = 20;    ///< line, px
    double angle = 0;      ///< line, degrees, counterclockwise from the x axis
    double age = 40;       ///< glare, years
    double cataract = 0;   ///< glare: log10 of the lens's straylight above a clear eye of this age
    double pigment = 0.5;  ///< glare: 0 very dark … 0.5 brown … 1.0 light … 1.2 very light blue eyes
    double degrees = 0.05; ///< glare: visual angle of one pixel
    int size = 0;          ///< longest side of the kernel, px; 0: unlimited
    std::string file;      ///< kernel = file
    bool per_channel = false;
    bool normalize = true;
    Border border = Border::replicate; ///< not omit, not crop
    int memory = 0; ///< memory limit for spectra and workspace, MB; 0: free memory less a share for others
};

StageType convolve_stage();
/// The stage on the host; `free` returns the machine's free memory in bytes.
std::unique_ptr<HostStage> make_convolve_host(const Params& params, std::size_t (*free)());
std::unique_ptr<DeviceStage> make_convolve_device(const Params& params);

} // namespace specklescope
