// Properties that all results of a chain share.
#pragma once

#include "pipeline/result.hpp"

#include <cmath>
#include <memory>
#include <utility>

namespace specklescope {

/// Quantity and exposure, computed once per edit instead of per frame.
class ResultsOfChain {
public:
    explicit ResultsOfChain(std::shared_ptr<const Chain> chain)
        : chain_(std::move(chain)), quantity_(chain_->quantity()),
          exposure_(exposure_used(*chain_, quantity_, FrameInfo{})) {}

    const std::shared_ptr<const Chain>& chain() const { return chain_; }
    /// Sets info, chain, quantity and exposure.
    void describe(Result& result, const FrameInfo& info, std::uint64_t version) const {
        result.info = info;
        result.info.version = version;
        result.chain = chain_;
        result.quantity = quantity_;
        if (std::isfinite(info.exposure_ms)) {
            result.exposure = exposure_used(*chain_, quantity_, info);
        } else {
            result.exposure = exposure_;
            result.exposure.ms *= info.summed;
        }
    }

private:
    std::shared_ptr<const Chain> chain_;
    Quantity quantity_;
    Exposure exposure_; ///< of a frame whose source reports none
};

} // namespace specklescope
