// The chain that the next frames of a stream are made with, before the run has come to its edits.
#pragma once

#include "pipeline/pipeline.hpp"

#include <deque>
#include <variant>

namespace specklescope::library {

/// Does with edits what the run will do: those that it refuses are taken back when it has said so, the others
/// stay, done or not.
class WantedChain {
public:
    explicit WantedChain(Chain first = {}) : first_{std::move(first)}, now_(first_) {}

    const Chain& chain() const { return now_.chain; }
    /// For Pipeline::edit(): the stages that a place belongs to.
    std::uint64_t stages_of() const { return now_.stages_of; }

    /// Under the version that the run gave the edit, later than all before it.
    void replace(Chain chain, std::uint64_t version);
    void set(std::size_t stage, NamedValues values, std::uint64_t version);
    /// What the run has refused of them, which may have been told before.
    void take_back(const std::vector<RefusedEdit>& refused);
    /// Edits up to this one are known to stand.
    std::uint64_t known() const { return steps_.empty() ? 0 : steps_.front().version - 1; }

private:
    struct OfStage {
        std::size_t stage;
        NamedValues values;
        std::uint64_t stages_of;
    };
    struct Step {
        std::uint64_t version;
        std::variant<Chain, OfStage> change;
    };
    void add(Step step);
    static void apply(const Step& step, ChainInEffect& to);

    ChainInEffect first_; ///< in front of the steps
    std::deque<Step> steps_;
    ChainInEffect now_;
};

} // namespace specklescope::library
