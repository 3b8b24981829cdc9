#include "gst/edited_chain.hpp"

#include "gst/declarations.hpp"

#include <algorithm>
#include <set>
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

/// No chain of that text has more stages: bars in quotes count too.
std::size_t most_stages(const std::string& text) {
    return 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '|'));
}

/// Empty where there is no such stage, or it has no such parameter.
std::optional<std::string> value_if_any(specklescope_chain* chain, std::size_t place, const char* name) {
    std::size_t needed = 0;
    if (specklescope_chain_get(chain, place, name, nullptr, 0, &needed) != SPECKLESCOPE_OK)
        return std::nullopt;
    return value_of(chain, place, name);
}

/// A frame that is captured makes results of the same shape, and no file is read.
void spare_files(specklescope_chain* chain, const std::string& text) {
    for (std::size_t place = 0; place < most_stages(text); ++place)
        for (const char* const name : {"dark", "flat"})
            if (value_if_any(chain, place, name) == "file")
                check(specklescope_chain_set(chain, place, name, "capture"));
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

/// True where the stage stays prepared as it is.
bool EditedChain::is_free(const Edit& edit) const {
    return std::any_of(declarations().begin(), declarations().end(), [&](const Declared& declared) {
        return !declared.stage.empty() && edit.name == declared.info.name && declared.info.rebuilds == 0 &&
               place_of(wanted_.get(), declared.stage) == edit.place;
    });
}

void EditedChain::edit(Edit edit) {
    apply(wanted_.get(), edit);
    edit.free = is_free(edit);
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

specklescope_settings EditedChain::settings_with(const std::string& options) {
    auto settings = sized<specklescope_settings>();
    settings.options = options.c_str();
    settings.user = &cancelled_;
    settings.goes_on = [](void* cancelled, const char*, double) {
        return static_cast<std::atomic<bool>*>(cancelled)->load() ? 0 : 1;
    };
    return settings;
}

void EditedChain::start(const std::string& options, const std::string& regions) {
    specklescope_settings settings = settings_with(options);
    settings.regions = regions.empty() ? nullptr : regions.c_str();
    cancelled_ = false;
    const std::scoped_lock lock(lock_);
    run_ = new_chain(text_of(wanted_.get()), settings);
    prepared_.reset();
    copy_actions(wanted_.get(), run_.get());
    runs_in_place_ = keeps_places(run_.get());
    waiting_.clear();
    running_ = true;
}

/// The text of a chain leaves out what belongs to a moment: buttons, and how often they were pressed.
std::vector<EditedChain::Edit> EditedChain::actions_of(specklescope_chain* chain) {
    std::vector<Edit> actions;
    const std::size_t stages = most_stages(text_of(chain));
    std::set<std::string> names;
    for (const Declared& declared : declarations())
        if (declared.info.kind == SPECKLESCOPE_ACTION)
            names.insert(declared.info.name);
    for (std::size_t place = 0; place < stages; ++place)
        for (const std::string& name : names)
            if (std::optional<std::string> value = value_if_any(chain, place, name.c_str()))
                actions.push_back({place, name, std::move(*value)});
    return actions;
}

/// Both have the same stages.
void EditedChain::copy_actions(specklescope_chain* from, specklescope_chain* to) {
    for (const Edit& action : actions_of(from))
        apply(to, action);
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
    prepared_ = input;
    return made;
}

specklescope_image EditedChain::settle(const specklescope_image& input, const Judge& judge) {
    std::vector<Edit> edits;
    std::string text; // of the chain that runs, with these edits
    {
        const std::scoped_lock lock(lock_);
        edits.swap(waiting_);
        if (!edits.empty())
            text = text_of(wanted_.get());
    }
    if (edits.empty())
        return output(input);
    auto made = sized<specklescope_image>();
    const std::string wrong = wrong_with(edits, text, input, judge, made);
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

/// What a chain of that text makes of such frames, by one on the host that lives for the question and runs
/// none. Empty: that one is refused, and only the chain that is to run it can tell. Throws Refusal where it
/// is cancelled.
std::optional<EditedChain::Foreseen> EditedChain::foresee(const std::string& text,
                                                          const specklescope_image& input) {
    constexpr std::int32_t kSide = 64; // where width and height stay as they are few pixels tell as much
    const auto with = [&](const specklescope_image& frame) -> std::optional<Foreseen> {
        try {
            const std::string options = "backend=cpu";
            const ChainHandle chain = new_chain(text, settings_with(options));
            spare_files(chain.get(), text);
            const bool in_place = keeps_places(chain.get());
            if (!in_place && !same_shape(frame, input))
                return std::nullopt;
            auto made = sized<specklescope_image>();
            check(specklescope_chain_output(chain.get(), &frame, &made));
            if (in_place) {
                made.width = input.width;
                made.height = input.height;
            }
            return Foreseen{made, in_place};
        } catch (const Refusal& refusal) {
            if (refusal.status() == SPECKLESCOPE_CANCELLED)
                throw;
            return std::nullopt;
        }
    };
    specklescope_image few = input;
    few.width = std::min(input.width, kSide);
    few.height = std::min(input.height, kSide);
    std::optional<Foreseen> found = with(few);
    if (!found && !same_shape(few, input))
        found = with(input);
    return found;
}

/// Why the chain does not go on with the edits: it is then as it was before. Empty: it does. The judge is
/// asked before anything is changed, for a history that is gone, or a button that was pressed, does not come
/// back. Free edits are not foreseen: they prepare no stage anew, a controller makes them with every frame.
std::string EditedChain::wrong_with(const std::vector<Edit>& edits, const std::string& text,
                                    const specklescope_image& input, const Judge& judge,
                                    specklescope_image& made) {
    const bool free = prepared_ && same_shape(*prepared_, input) &&
                      std::all_of(edits.begin(), edits.end(), [](const Edit& edit) { return edit.free; });
    const std::optional<Foreseen> foreseen = free ? std::nullopt : foresee(text, input);
    if (foreseen)
        if (std::string objection = judge.objection(foreseen->made, foreseen->in_place); !objection.empty())
            return objection;
    std::vector<Edit> back = actions_of(run_.get());
    back.insert(back.begin(), Edit{0, "", text_of(run_.get())});
    const auto put_back = [&] {
        for (const Edit& edit : back)
            apply(run_.get(), edit);
    };
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
            put_back();
        return refusal.what();
    }
    const bool in_place = keeps_places(run_.get());
    if (!foreseen || !same_shape(foreseen->made, made))
        if (std::string objection = judge.objection(made, in_place); !objection.empty()) {
            put_back();
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
