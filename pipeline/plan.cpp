#include "pipeline/plan.hpp"

#include "base/parallel.hpp"
#include "pipeline/convert.hpp"

#include <algorithm>
#include <optional>

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

/// Stages with a window see the frames one after the other, and share the cores in bands of rows.
template <Space S> std::optional<ThreadLimit> whole_on_one_core(const StageType& type, const Shape& input) {
    if (S == Space::device || type.stateful || input.pixels() > kWholePixels)
        return std::nullopt;
    return std::optional<ThreadLimit>(std::in_place, 1);
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
    : input(shape), output(shape), channel(chain.channel()), memory_(memory), source_(chain.input()) {
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
            const std::optional<ThreadLimit> whole = whole_on_one_core<S>(*links[i].type, step.converted);
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
    make_also(old);
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

/// The named outputs of every step, each as large as the output of its step.
template <Space S> void Plan<S>::make_also(const Plan* old) {
    Quantity quantity = source_;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const ChainStage& link = steps[i].link;
        for (NamedOutput& output :
             link.type->also ? link.type->also(link.params, quantity) : std::vector<NamedOutput>()) {
            Also& made = also.emplace_back();
            made.step = i;
            const Shape shape{steps[i].output.width, steps[i].output.height, 1, PixelType::f32};
            const auto same = [&](const Also& one) { return one.made.output.name == output.name; };
            const auto before =
                old ? std::find_if(old->also.begin(), old->also.end(), same) : decltype(old->also.begin()){};
            const bool found = old && before != old->also.end();
            made.results = ring(shape, result_slots(shape, memory_.in_flight), memory_.stages,
                                found ? before->results : nullptr);
            if (found && before->downloads && before->downloads->shape() == shape)
                made.downloads = before->downloads;
            made.made.output = std::move(output);
        }
        quantity = link.type->quantity(link.params, quantity);
    }
}

/// Names, quantities and chains of the named outputs: free parameters may be part of a quantity's name.
template <Space S> void Plan<S>::describe_also(const Chain& chain) {
    std::vector<ChainOutput> outputs = also.empty() ? std::vector<ChainOutput>() : settled(chain).also();
    for (std::size_t i = 0; i < also.size() && i < outputs.size(); ++i) {
        Chain made = chain;
        made.stages().resize(outputs[i].stage + 1);
        also[i].chain = std::make_shared<const Chain>(std::move(made));
        also[i].made = std::move(outputs[i]);
    }
}

template <Space S> bool Plan<S>::wait_also(SteadyClock::time_point end) {
    const auto wait_for = [end](Frame& spare, const std::shared_ptr<FrameRing>& slots) {
        using std::chrono::milliseconds;
        if (slots && !spare)
            spare = slots->acquire(std::max(
                milliseconds(0), std::chrono::duration_cast<milliseconds>(end - SteadyClock::now())));
        return !slots || spare;
    };
    return std::all_of(also.begin(), also.end(), [&](Also& one) {
        return wait_for(one.spare, one.results) && wait_for(one.spare_download, one.downloads);
    });
}

template <Space S> std::vector<NamedImage> Plan<S>::take_also(bool download) {
    const auto take = [](Frame& spare, FrameRing& slots) {
        Frame slot = spare ? std::exchange(spare, Frame()) : slots.acquire(std::chrono::seconds(10));
        if (!slot)
            throw NoSlot();
        return slot;
    };
    std::vector<NamedImage> images;
    images.reserve(also.size());
    for (Also& one : also) {
        NamedImage& image = images.emplace_back();
        image.name = one.made.output.name;
        image.quantity = one.made.output.quantity;
        image.chain = one.chain;
        (S == Space::host ? image.image : image.device_image) = take(one.spare, *one.results);
        if (download && one.downloads)
            image.image = take(one.spare_download, *one.downloads);
    }
    return images;
}

template <Space S> void Plan<S>::make_downloads() {
    if (!memory_.downloads)
        return;
    const auto add = [&](std::shared_ptr<FrameRing>& slots, const Shape& shape) {
        if (!slots)
            slots =
                std::make_shared<FrameRing>(shape, result_slots(shape, memory_.in_flight), memory_.downloads);
    };
    if (!steps.empty())
        add(downloads, output);
    for (Also& one : also)
        add(one.downloads, one.results->shape());
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
    describe_also(chain);
    take_notes();
}

template <Space S> void Plan<S>::reset() {
    for (Step& step : steps)
        step.stage->reset();
    unsettle();
}

template <Space S> Warmup Plan<S>::warmup(std::size_t count) const {
    for (std::size_t i = 0; i < std::min(count, steps.size()); ++i) {
        const Step& step = steps[i];
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
    notes_settled_ = warmup().done() && std::none_of(steps.begin(), steps.end(), [](const Step& step) {
                         return step.incomplete || step.stage->note_changes();
                     });
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
