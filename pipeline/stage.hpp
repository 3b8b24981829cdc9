// A stage turns one image into another. Parameters, validation and coefficients are shared; only the inner
// loop is written twice, for the host and for the device.
#pragma once

#include "pipeline/frame.hpp"
#include "pipeline/param.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Pixels of a result that need a word beside the picture (science.md: "where it is undefined").
struct PixelCounts {
    std::uint64_t undefined = 0; ///< NaN: mean 0
    std::uint64_t infinite = 0;  ///< ±infinity: variance 0 with mean > 0
    std::uint64_t saturated = 0; ///< any sample of the window at full scale
    bool operator==(const PixelCounts&) const = default;
};

template <Space S> struct RunContext;
template <> struct RunContext<Space::host> {
    const FrameInfo& info;
    PixelCounts& counts; ///< zero on entry
};
template <> struct RunContext<Space::device> {
    const FrameInfo& info;
    PixelCounts* counts; ///< in device memory, zeroed on the stream before the run
    void* stream;        ///< cudaStream_t
};

/// One stage on one backend. prepare() allocates; run() never does.
template <Space S> class Stage {
public:
    virtual ~Stage() = default;
    /// Shape of the output for this input; called on a size change and after a rebuild edit. Throws
    /// UsageError when the parameters and the shape cannot go together.
    virtual Shape prepare(const Shape& input) = 0;
    virtual void run(ConstImageView<S> input, ImageView<S> output, const RunContext<S>& context) = 0;
    /// New values of free parameters. Rebuild parameters are followed by prepare().
    virtual void set_params(const Params& params) = 0;
};
using HostStage = Stage<Space::host>;
using DeviceStage = Stage<Space::device>;

/// What the numbers of a result mean: for axes, colour bars, file metadata.
struct Quantity {
    std::string name = "intensity"; ///< "speckle flow index"
    std::string symbol = "I";       ///< "SFI"
    std::string unit = "DN";        ///< "1/s"; "1" for a pure number
};

/// Everything known about a stage before one exists: the registry's row.
struct StageType {
    std::string_view name;
    std::string_view doc; ///< one line
    const ParamTable* table;
    std::vector<PixelType> types; ///< accepted pixel types, without conversion
    std::vector<int> channels;    ///< accepted channel counts, without conversion
    double tolerance;             ///< largest relative difference allowed between host and device
    Quantity (*quantity)(const Params&, const Quantity& input);
    std::unique_ptr<HostStage> (*make_host)(const Params&);
    std::unique_ptr<DeviceStage> (*make_device)(const Params&); ///< null in a build without CUDA
    bool stateful = false;
};

/// Ordered; first is the default. stages/registry.cpp.
const std::vector<StageType>& stage_types();
/// Throws UsageError listing the names.
const StageType& find_stage(std::string_view name);

} // namespace specklescope
