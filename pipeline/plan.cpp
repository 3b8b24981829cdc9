#include "pipeline/plan.hpp"

#include "pipeline/convert.hpp"

#include <algorithm>

namespace specklescope {

namespace {

template <Space S> std::unique_ptr<Stage<S>> make_stage(const ChainStage& link) {
    if constexpr (S == Space::host) {
        return link.type->make_host(link.params);
    } else {
        if (!link.type->make_device)
            throw UsageError("stage " + std::string(link.type->name) +
                             " does not run on the GPU; use --backend cpu for this chain.");
        return link.type->make_device(link.params);
    }
}

constexpr std::string_view kBypassed = "bypassed";

/// True if this edit of free parameters can change the results of a stage.
bool changes_numbers(const Params& before, const Params& after) {
    const auto& decls = after.table().decls();
    return std::any_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
        return decl.kind != ParamKind::action && after.visible(decl) &&
               before.get(decl.name) != after.get(decl.name);
    });
}

/// Number of frames of stage `index` that contribute to one result of the chain.
int averaged_after(const std::vector<ChainStage>& links, std::size_t index) {
    int frames = 1;
    for (std::size_t i = index + 1; i < links.size(); ++i)
        frames += links[i].type->averages ? links[i].type->averages(links[i].params) - 1 : 0;
    return frames;
}

Frame one_slot(const Shape& shape, const std::shared_ptr<SlotMemory>& memory) {
    return FrameRing(shape, 1, memory).try_acquire();
}

/// A ring of default size plus the results in flight: the viewer, the mailbox and recorders hold results too.
int result_slots(const Shape& shape, int in_flight) { return default_slots(shape) + in_flight; }

std::shared_ptr<FrameRing> ring(const Shape& shape, int slots, const std::shared_ptr<SlotMemory>& memory,
                                const std::shared_ptr<FrameRing>& old) {
    return old && old->shape() == shape && old->slots() == slots
               ? old
               : std::make_shared<FrameRing>(shape, slots, memory);
}

} // namespace

template <Space S>
Plan<S>::Plan(const Chain& chain, const Shape& shape, const PlanMemory& memory, const Plan* old)
    : input(shape), output(shape), channel(chain.channel()), memory_(memory) {
    const Chain in_effect = settled(active(chain));
    const std::vector<ChainStage>& links = in_effect.stages();
    if (old && old->input == shape && (old->channel == channel || shape.channels == 1))
        while (
            kept_ < links.size() && kept_ < old->steps.size() &&
            differs_in_free_only(old->steps[kept_].link, links[kept_]) &&
            (links[kept_].type->stateful || old->steps[kept_].counted_over == averaged_after(links, kept_)))
            ++kept_;
    for (std::size_t i = 0; i < links.size(); ++i) {
        Step step;
        step.link = links[i];
        step.counted_over = averaged_after(links, i);
        if (i < kept_) {
            step.converted = old->steps[i].converted;
            step.output = old->steps[i].output;
        } else {
            step.converted = accepted_shape(*links[i].type, output, channel);
            step.stage = make_stage<S>(links[i]);
            step.output = step.stage->prepare(step.converted);
            step.stage->count_over(step.counted_over);
            if (step.converted != output)
                step.conversion = one_slot(step.converted, memory.stages);
        }
        to_grey = to_grey || step.converted.channels < output.channels;
        step.skipped = i + 1 < links.size() && passes(links[i]);
        if (i + 1 < links.size() && !step.skipped && !(i < kept_ && old->steps[i].between))
            step.between = one_slot(step.output, memory.stages);
        output = step.output;
        steps.push_back(std::move(step));
    }
    make_rings(old);
}

template <Space S> void Plan<S>::make_rings(const Plan* old) {
    const int slots = result_slots(output, memory_.in_flight);
    if (memory_.downloads)
        uploads = ring(input, steps.empty() && memory_.results ? slots : memory_.in_flight, memory_.stages,
                       old ? old->uploads : nullptr);
    if (steps.empty())
        return;
    if (memory_.results)
        results = ring(output, slots, memory_.stages, old ? old->results : nullptr);
    if (old && old->downloads && old->downloads->shape() == output)
        downloads = old->downloads;
}

template <Space S> void Plan<S>::make_downloads() {
    if (!downloads && !steps.empty() && memory_.downloads)
        downloads =
            std::make_shared<FrameRing>(output, result_slots(output, memory_.in_flight), memory_.downloads);
}

template <Space S> void Plan<S>::take_over(const Chain& chain, Plan* old) {
    for (std::size_t i = 0; i < kept_; ++i) {
        typename Plan::Step& from = old->steps[i];
        steps[i].link = from.link; // set_params() compares with it
        steps[i].incomplete = from.incomplete;
        steps[i].stage = std::move(from.stage);
        if (steps[i].counted_over != from.counted_over)
            steps[i].stage->count_over(steps[i].counted_over);
        steps[i].conversion = std::move(from.conversion);
        if (i + 1 < steps.size() && !steps[i].between)
            steps[i].between = std::move(from.between);
    }
    if (old && old->input == input && kept_ < steps.size() && kept_ < old->steps.size()) {
        Step& step = steps[kept_];
        typename Plan::Step& from = old->steps[kept_];
        if (step.link.type == from.link.type && step.converted == from.converted)
            step.stage->inherit(*from.stage);
    }
    set_params(chain);
}

template <Space S> void Plan<S>::set_params(const Chain& chain) {
    const Chain in_effect = settled(active(chain));
    places_.clear();
    for (const ChainStage& stage : chain.stages())
        places_.push_back(!stage.bypassed);
    bool other_input = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Params& params = in_effect.stages()[i].params;
        if (other_input)
            steps[i].stage->reset();
        other_input = other_input || changes_numbers(steps[i].link.params, params);
        steps[i].link.params = params;
        steps[i].stage->set_params(params);
    }
    advice_ = advice(in_effect);
    take_notes();
}

template <Space S> void Plan<S>::reset() {
    for (Step& step : steps)
        step.stage->reset();
    notes_settled_ = false;
}

template <Space S> Warmup Plan<S>::warmup() const {
    for (const Step& step : steps) {
        Warmup warmup = step.stage->warmup();
        warmup.stage = step.link.type->name;
        if (!warmup.done())
            return warmup;
    }
    return {};
}

template <Space S> void Plan<S>::refresh_notes() {
    if (!notes_settled_)
        take_notes();
}

template <Space S> void Plan<S>::take_notes() {
    notes_settled_ = warmup().done();
    auto texts = std::make_shared<StageNotes>();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::string text = steps[i].stage->note();
        if (i < advice_.size() && !advice_[i].empty())
            text = advice_[i] + (text.empty() ? "" : "; " + text);
        texts->push_back(std::move(text));
    }
    for (std::size_t i = 0; i < places_.size(); ++i) // one note per stage of the chain
        if (!places_[i])
            texts->insert(texts->begin() + static_cast<std::ptrdiff_t>(i), std::string(kBypassed));
    notes = std::move(texts);
}

template struct Plan<Space::host>;
template struct Plan<Space::device>;

} // namespace specklescope
