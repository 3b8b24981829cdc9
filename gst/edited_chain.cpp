#include "gst/edited_chain.hpp"

#include "gst/declarations.hpp"

#include <algorithm>
#include <utility>

namespace specklescope::element {

namespace {

std::string text_of(specklescope_chain* chain) {
    std::size_t needed = 0;
    check(specklescope_chain_text(chain, nullptr, 0, &needed));
    std::string text(needed, '\0');
    check(specklescope_chain_text(chain, text.data(), text.size(), nullptr));
    text.resize(needed - 1);
    return text;
}

ChainHandle new_chain(const std::string& text, const specklescope_settings& settings) {
    specklescope_chain* made = nullptr;
    check(specklescope_chain_create(text.c_str(), &settings, &made));
    return ChainHandle(made);
}

std::optional<std::size_t> place_of(specklescope_chain* chain, const std::string& stage) {
    std::size_t place = 0;
    if (specklescope_chain_place(chain, stage.c_str(), &place) != SPECKLESCOPE_OK)
        return std::nullopt;
    return place;
}

std::string value_of(specklescope_chain* chain, std::size_t place, const std::string& name) {
    std::size_t needed = 0;
    check(specklescope_chain_get(chain, place, name.c_str(), nullptr, 0, &needed));
    std::string text(needed, '\0');
    check(specklescope_chain_get(chain, place, name.c_str(), text.data(), text.size(), nullptr));
    text.resize(needed - 1);
    return text;
}

bool keeps_places(specklescope_chain* chain) {
    std::int32_t in_place = 0;
    check(specklescope_chain_in_place(chain, &in_place));
    return in_place != 0;
}

MemoryHandle new_memory(specklescope_chain* chain, specklescope_image& image) {
    specklescope_memory* made = nullptr;
    check(specklescope_memory_create(chain, &image, &made));
    return MemoryHandle(made);
}

} // namespace

int gpu_of(specklescope_chain* chain) {
    auto one = sized<specklescope_image>();
    one.width = one.height = 1;
    try {
        std::int32_t gpu = -1;
        check(specklescope_memory_device(new_memory(chain, one).get(), &gpu));
        return gpu;
    } catch (const Refusal& refusal) {
        if (refusal.status() == SPECKLESCOPE_USAGE_ERROR) // a chain on the host has no memory of a GPU
            return -1;
        throw;
    }
}

EditedChain::EditedChain() {
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu"; // no GPU is asked for what never runs
    wanted_ = new_chain("", settings);
}

void EditedChain::apply(specklescope_chain* chain, const Edit& edit) {
    check(edit.name.empty()
              ? specklescope_chain_replace(chain, edit.value.c_str())
              : specklescope_chain_set(chain, edit.place, edit.name.c_str(), edit.value.c_str()));
}

void EditedChain::edit(Edit edit) {
    apply(wanted_.get(), edit);
    if (running_)
        waiting_.push_back(std::move(edit));
}

void EditedChain::replace(const std::string& text) {
    const std::scoped_lock lock(lock_);
    edit({0, "", text});
}

void EditedChain::set(std::size_t place, const std::string& name, const std::string& value) {
    const std::scoped_lock lock(lock_);
    edit({place, name, value});
}

void EditedChain::set(const std::string& stage, const std::string& name, const std::string& value) {
    const std::scoped_lock lock(lock_);
    std::size_t place = 0;
    check(specklescope_chain_place(wanted_.get(), stage.c_str(), &place));
    if (value_of(wanted_.get(), place, name) != value) // a controller sets every frame
        edit({place, name, value});
}

std::optional<std::string> EditedChain::get(const std::string& stage, const std::string& name) const {
    const std::scoped_lock lock(lock_);
    const std::optional<std::size_t> place = place_of(wanted_.get(), stage);
    return place ? std::optional(value_of(wanted_.get(), *place, name)) : std::nullopt;
}

std::string EditedChain::text() const {
    const std::scoped_lock lock(lock_);
    return text_of(wanted_.get());
}

bool EditedChain::in_place() const {
    const std::scoped_lock lock(lock_);
    return running_ ? runs_in_place_ : keeps_places(wanted_.get());
}

void EditedChain::start(const std::string& options, const std::string& regions) {
    auto settings = sized<specklescope_settings>();
    settings.options = options.c_str();
    settings.regions = regions.empty() ? nullptr : regions.c_str();
    settings.user = &cancelled_;
    settings.goes_on = [](void* cancelled, const char*, double) {
        return static_cast<std::atomic<bool>*>(cancelled)->load() ? 0 : 1;
    };
    cancelled_ = false;
    const std::scoped_lock lock(lock_);
    run_ = new_chain(text_of(wanted_.get()), settings);
    copy_actions(wanted_.get(), run_.get());
    runs_in_place_ = keeps_places(run_.get());
    waiting_.clear();
    running_ = true;
}

/// The text of a chain leaves out what belongs to a moment: buttons, and how often they were pressed.
void EditedChain::copy_actions(specklescope_chain* from, specklescope_chain* to) {
    for (const Declared& declared : declarations()) {
        if (declared.info.kind != SPECKLESCOPE_ACTION)
            continue;
        if (const std::optional<std::size_t> place = place_of(from, declared.stage))
            apply(to, {*place, declared.info.name, value_of(from, *place, declared.info.name)});
    }
}

void EditedChain::stop() {
    const std::scoped_lock lock(lock_);
    running_ = false;
    waiting_.clear();
    run_.reset();
}

specklescope_image EditedChain::output(const specklescope_image& input) {
    auto made = sized<specklescope_image>();
    check(specklescope_chain_output(run_.get(), &input, &made));
    return made;
}

specklescope_image EditedChain::settle(const specklescope_image& input, const Judge& judge) {
    std::vector<Edit> edits;
    {
        const std::scoped_lock lock(lock_);
        edits.swap(waiting_);
    }
    if (edits.empty())
        return output(input);
    auto made = sized<specklescope_image>();
    const std::string wrong = wrong_with(edits, input, judge, made);
    if (wrong.empty())
        return made;
    const std::size_t others = edits.size() - 1 + go_back();
    judge.refused(wrong);
    if (others > 0)
        judge.refused("With the edit that does not fit " + std::to_string(others) +
                      (others == 1 ? " other is" : " others are") +
                      " refused, made since the frame before; make what is still wanted again.");
    return output(input);
}

/// Why the chain does not go on with the edits: it is then as it was before. Empty: it does.
std::string EditedChain::wrong_with(const std::vector<Edit>& edits, const specklescope_image& input,
                                    const Judge& judge, specklescope_image& made) {
    const Edit back{0, "", text_of(run_.get())};
    bool all = false;
    try {
        for (const Edit& edit : edits)
            apply(run_.get(), edit);
        all = true;
        made = output(input);
    } catch (const Refusal& refusal) {
        if (refusal.status() == SPECKLESCOPE_CANCELLED)
            throw;
        if (!all) // else the library has put it back
            apply(run_.get(), back);
        return refusal.what();
    }
    const bool in_place = keeps_places(run_.get());
    std::string objection = judge.objection(made, in_place);
    if (!objection.empty()) {
        apply(run_.get(), back);
        return objection;
    }
    const std::scoped_lock lock(lock_);
    runs_in_place_ = in_place;
    return "";
}

/// What is wanted becomes what runs again. Of the edits that were made since those of the chain that is
/// refused are given up, for a place in it is another one now; how many. From the next whole chain on they
/// hold.
std::size_t EditedChain::go_back() {
    const std::scoped_lock lock(lock_);
    const auto whole =
        std::find_if(waiting_.begin(), waiting_.end(), [](const Edit& edit) { return edit.name.empty(); });
    const auto given_up = static_cast<std::size_t>(whole - waiting_.begin());
    waiting_.erase(waiting_.begin(), whole);
    apply(wanted_.get(), {0, "", text_of(run_.get())});
    copy_actions(run_.get(), wanted_.get());
    for (const Edit& edit : waiting_)
        apply(wanted_.get(), edit);
    return given_up;
}

specklescope_result EditedChain::process(const specklescope_image& input, const specklescope_facts& facts,
                                         const specklescope_image& output) {
    auto result = sized<specklescope_result>();
    check(specklescope_chain_process(run_.get(), &input, &facts, &output, &result));
    return result;
}

MemoryHandle EditedChain::memory(specklescope_image& image) { return new_memory(run_.get(), image); }

specklescope_region EditedChain::region(std::size_t index) {
    auto region = sized<specklescope_region>();
    check(specklescope_chain_region(run_.get(), index, &region));
    return region;
}

} // namespace specklescope::element
