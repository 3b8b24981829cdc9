// C functions of chains.
#include "analysis/regions_file.hpp"
#include "library/chain.hpp"
#include "library/convert.hpp"
#include "pipeline/chain.hpp"

#include <algorithm>
#include <vector>

using namespace specklescope;
using namespace specklescope::library;

namespace {

std::shared_ptr<ChainObject> find_chain(const specklescope_chain* chain) {
    return find_as<ChainObject>(chain);
}

std::string_view text_or_none(const char* text) { return text ? text : ""; }

/// Looks up the stage in the newest chain, while no other thread edits it.
void set(const specklescope_chain* chain, const StagePlace& stage, const Values& values) {
    find_chain(chain)->edit(
        [&](Chain& edited) { set_values(edited.stages()[place_of(edited, stage)], values); });
}

std::string value_of(const specklescope_chain* chain, const StagePlace& stage, const char* name) {
    const Chain wanted = find_chain(chain)->wanted();
    return to_string(wanted.stages()[place_of(wanted, stage)].params.get(name));
}

} // namespace

extern "C" {

specklescope_status specklescope_chain_create(const char* text, const specklescope_settings* settings,
                                              specklescope_chain** chain) {
    return guarded([&] {
        need(chain, "The place for the chain");
        keep_quiet();
        const Watcher watcher = watcher_of(settings);
        const Asking asking(watcher);
        auto made = std::make_shared<ChainObject>(chain_from_text(text_or_none(text)),
                                                  settings_of(settings, For::chain), watcher);
        *chain = static_cast<specklescope_chain*>(keep(std::move(made), ChainObject::kKind));
    });
}

specklescope_status specklescope_chain_free(specklescope_chain* chain) {
    return guarded([&] {
        if (chain)
            take_out_as<ChainObject>(chain);
    });
}

specklescope_status specklescope_chain_add(specklescope_chain* chain, const char* stage) {
    return guarded([&] {
        need(stage, "The stage's text");
        find_chain(chain)->edit([&](Chain& edited) { edited.add(stage); });
    });
}

specklescope_status specklescope_chain_replace(specklescope_chain* chain, const char* text) {
    return guarded([&] {
        find_chain(chain)->edit([&](Chain& edited) { edited = chain_from_text(text_or_none(text)); });
    });
}

specklescope_status specklescope_chain_copy(specklescope_chain* chain, specklescope_chain* from) {
    return guarded([&] { find_chain(chain)->copy(find_chain(from)->wanted()); });
}

specklescope_status specklescope_chain_set(specklescope_chain* chain, size_t stage, const char* name,
                                           const char* value) {
    return guarded([&] {
        need(name, "The parameter's name");
        need(value, "The parameter's value");
        set(chain, stage, {{name, value}});
    });
}

specklescope_status specklescope_chain_set_values(specklescope_chain* chain, const char* stage,
                                                  const char* values) {
    return guarded([&] {
        need(stage, "The stage's name");
        need(values, "The text of the values");
        set(chain, stage_named(stage), values_of(values));
    });
}

specklescope_status specklescope_chain_place(specklescope_chain* chain, const char* stage, size_t* place) {
    return guarded([&] {
        need(stage, "The stage's name");
        need(place, "The place for the stage's");
        *place = place_of(find_chain(chain)->wanted(), std::string_view(stage));
    });
}

specklescope_status specklescope_chain_get(specklescope_chain* chain, size_t stage, const char* name,
                                           char* text, size_t size, size_t* needed) {
    return guarded([&] {
        need(name, "The parameter's name");
        write_text(value_of(chain, stage, name), text, size, needed);
    });
}

specklescope_status specklescope_chain_get_value(specklescope_chain* chain, const char* stage,
                                                 const char* name, char* text, size_t size, size_t* needed) {
    return guarded([&] {
        need(stage, "The stage's name");
        need(name, "The parameter's name");
        write_text(value_of(chain, stage_named(stage), name), text, size, needed);
    });
}

specklescope_status specklescope_chain_text(specklescope_chain* chain, char* text, size_t size,
                                            size_t* needed) {
    return guarded([&] { write_text(to_string(find_chain(chain)->wanted()), text, size, needed); });
}

specklescope_status specklescope_region_mask(const char* json, size_t index, int32_t width, int32_t height,
                                             uint8_t* mask) {
    return guarded([&] {
        need(mask, "The place for the mask");
        specklescope_image image{};
        image.width = width;
        image.height = height;
        const Shape shape = shape_of(image, "The mask");
        const std::vector<Region> regions = regions_from_text(json);
        if (index >= regions.size())
            throw UsageError("There is no region number " + std::to_string(index) + "; there are " +
                             std::to_string(regions.size()) + ", counted from 0.");
        std::vector<RowSpan> spans;
        region_spans(regions[index], width, height, spans);
        std::fill_n(mask, shape.bytes(), std::uint8_t{0});
        for (const RowSpan& span : spans)
            std::fill_n(mask + static_cast<std::size_t>(span.y) * static_cast<std::size_t>(width) + span.x,
                        span.length, std::uint8_t{255});
    });
}

specklescope_status specklescope_chain_set_regions(specklescope_chain* chain, const char* json) {
    return guarded([&] { find_chain(chain)->set_regions(regions_from_text(json)); });
}

specklescope_status specklescope_chain_regions(specklescope_chain* chain, char* text, size_t size,
                                               size_t* needed) {
    return guarded([&] { write_text(to_json(find_chain(chain)->regions()), text, size, needed); });
}

specklescope_status specklescope_chain_in_place(specklescope_chain* chain, int32_t* in_place) {
    return guarded([&] {
        need(in_place, "The place for the answer");
        *in_place = specklescope::library::in_place(find_chain(chain)->wanted()) ? 1 : 0;
    });
}

specklescope_status specklescope_chain_output(specklescope_chain* chain, const specklescope_image* input,
                                              specklescope_image* output) {
    return guarded([&] {
        const Using<ChainObject> use(chain);
        const Shape shape = shape_of(read_struct(input, "The input"), "The input");
        write_struct(output, to_c(use->output(shape)), "The output");
    });
}

specklescope_status specklescope_chain_process(specklescope_chain* chain, const specklescope_image* input,
                                               const specklescope_facts* facts,
                                               const specklescope_image* output,
                                               specklescope_result* result) {
    return guarded([&] {
        const Using<ChainObject> use(chain);
        const Place from = place_of(read_struct(input, "The input"), "The input");
        const FrameInfo info = info_of(read_struct(facts, "What is known of the frame", true));
        const Place to = place_of(read_struct(output, "The output"), "The output");
        if (result)
            check_struct(*result, "The result");
        use->process(from, info, to, result != nullptr);
        if (result)
            write_struct(result, to_c(use->last()), "The result");
    });
}

specklescope_status specklescope_chain_result(specklescope_chain* chain, specklescope_result* result) {
    return guarded([&] {
        const Using<ChainObject> use(chain);
        write_struct(result, to_c(use->last()), "The result");
    });
}

specklescope_status specklescope_chain_region(specklescope_chain* chain, size_t index,
                                              specklescope_region* region) {
    return guarded([&] {
        const Using<ChainObject> use(chain);
        write_struct(region, region_of(use->last(), index), "The region");
    });
}

specklescope_status specklescope_chain_also(specklescope_chain* chain, size_t index, const char** name,
                                            specklescope_image* image, specklescope_result* result) {
    return guarded([&] {
        const Using<ChainObject> use(chain);
        const Result& last = use->last();
        write_also(use->also(), last, index, name, image, result);
    });
}

specklescope_status specklescope_chain_reset(specklescope_chain* chain) {
    return guarded([&] { Using<ChainObject>(chain)->reset(); });
}

} // extern "C"
