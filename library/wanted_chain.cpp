#include "library/wanted_chain.hpp"

#include <algorithm>
#include <utility>

namespace specklescope::library {

void WantedChain::replace(Chain chain, std::uint64_t version) { add({version, std::move(chain)}); }

void WantedChain::set(std::size_t stage, NamedValues values, std::uint64_t version) {
    add({version, OfStage{stage, std::move(values), now_.stages_of}});
}

void WantedChain::take_back(const std::vector<RefusedEdit>& refused) {
    const auto is_refused = [&](const Step& step) {
        return std::any_of(refused.begin(), refused.end(),
                           [&](const RefusedEdit& edit) { return edit.version == step.version; });
    };
    if (std::erase_if(steps_, is_refused) == 0)
        return;
    now_ = first_;
    for (const Step& step : steps_)
        apply(step, now_);
}

void WantedChain::add(Step step) {
    apply(step, now_);
    steps_.push_back(std::move(step));
    for (constexpr std::size_t kKept = 1000; steps_.size() > kKept; steps_.pop_front()) // long done
        apply(steps_.front(), first_);
}

void WantedChain::apply(const Step& step, ChainInEffect& to) {
    if (const auto* whole = std::get_if<Chain>(&step.change)) {
        to = {*whole, step.version};
        return;
    }
    const auto& edit = std::get<OfStage>(step.change);
    if (edit.stages_of != to.stages_of)
        return; // its chain was refused, and so will it be
    for (const auto& [name, value] : edit.values)
        to.chain.stages().at(edit.stage).params.set(name, value);
}

} // namespace specklescope::library
