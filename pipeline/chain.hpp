// A chain: stages with their parameters, in order. The same text on the command line, in TOML and in file
// metadata.
#pragma once

#include "pipeline/stage.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct ChainStage {
    const StageType* type = nullptr;
    Params params;
};

/// Value type; an empty chain shows the source as it is.
class Chain {
public:
    /// Parses "speckle" or "speckle:radius=2,output=contrast"; throws UsageError.
    void add(std::string_view text);
    void add(ChainStage stage) { stages_.push_back(std::move(stage)); }
    std::vector<ChainStage>& stages() { return stages_; }
    const std::vector<ChainStage>& stages() const { return stages_; }
    Quantity quantity() const;
    bool stateful() const;

private:
    std::vector<ChainStage> stages_;
};

/// "speckle:radius=3,exposure=10,output=sfi,border=replicate": every parameter, also those at their default.
std::string to_string(const ChainStage& stage);
std::string to_string(const Chain& chain); ///< stages joined by " | "
/// The same for people: without parameters that have no effect with the others as they are.
std::string text_in_effect(const Chain& chain);

/// True if the stage hands on what it gets, with the parameters as they are.
bool passes(const ChainStage& stage);

/// True if the stages are the same and only parameters of Cost::free differ, none of which decides whether
/// the stage passes.
bool differs_in_free_only(const ChainStage& a, const ChainStage& b);
/// True if the chains have the same stages and only parameters of Cost::free differ: no stage needs
/// prepare().
bool differs_in_free_only(const Chain& a, const Chain& b);

inline constexpr int kMaxStages = 16;

} // namespace specklescope
