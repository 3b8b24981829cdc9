#include "gst/edited.hpp"

#include "gst/declarations.hpp"

#include <string_view>
#include <utility>

namespace specklescope::element {

namespace {

constexpr const char* kAutomatic = "automatic";
constexpr const char* kColormap = "colormap";

/// Result of a call that writes a text: `call` gets the buffer, its size and the address of the required
/// size.
template <class Call> std::string text_from(const Call& call) {
    std::size_t needed = 0;
    check(call(nullptr, std::size_t{0}, &needed));
    std::string text(needed, '\0');
    check(call(text.data(), text.size(), nullptr));
    text.resize(needed - 1);
    return text;
}

std::string value_of(specklescope_chain* chain, const std::string& stage, const std::string& name) {
    return text_from([&](char* text, std::size_t size, std::size_t* needed) {
        return specklescope_chain_get_value(chain, stage.c_str(), name.c_str(), text, size, needed);
    });
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

ViewHandle new_view(const std::string& text) {
    specklescope_view* made = nullptr;
    check(specklescope_view_create(text.c_str(), &made));
    return ViewHandle(made);
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
        if (refusal.status() == SPECKLESCOPE_USAGE_ERROR) // a chain on the host has no GPU memory
            return -1;
        throw;
    }
}

EditedChain::EditedChain() {
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu";
    draft_ = new_chain("", settings);
}

/// Requires the lock.
void EditedChain::edit(specklescope_status status) {
    check(status);
    ++edits_;
}

void EditedChain::replace(const std::string& text) {
    const std::scoped_lock lock(lock_);
    edit(specklescope_chain_replace(draft_.get(), text.c_str()));
}

void EditedChain::set(std::size_t place, const std::string& name, const std::string& value) {
    const std::scoped_lock lock(lock_);
    edit(specklescope_chain_set(draft_.get(), place, name.c_str(), value.c_str()));
}

void EditedChain::set(const std::string& stage, const std::string& name, const std::string& value) {
    const std::scoped_lock lock(lock_);
    std::size_t place = 0;
    check(specklescope_chain_place(draft_.get(), stage.c_str(), &place));
    if (value_of(draft_.get(), stage, name) != value) // a controller sets every frame
        edit(specklescope_chain_set(draft_.get(), place, name.c_str(), value.c_str()));
}

std::optional<std::string> EditedChain::get(const std::string& stage, const std::string& name) const {
    const std::scoped_lock lock(lock_);
    std::size_t place = 0;
    if (specklescope_chain_place(draft_.get(), stage.c_str(), &place) != SPECKLESCOPE_OK)
        return std::nullopt;
    return value_of(draft_.get(), stage, name);
}

std::string EditedChain::text() const {
    const std::scoped_lock lock(lock_);
    return text_from([&](char* text, std::size_t size, std::size_t* needed) {
        return specklescope_chain_text(draft_.get(), text, size, needed);
    });
}

bool EditedChain::in_place() const {
    const std::scoped_lock lock(lock_);
    return running_ ? runs_in_place_ : keeps_places(draft_.get());
}

/// Called by the library on the streaming thread.
int EditedChain::agrees(void* self, const specklescope_image* output, std::int32_t in_place) {
    auto& chain = *static_cast<EditedChain*>(self);
    if (chain.judge_)
        chain.objection_ = chain.judge_->objection(*output, in_place != 0);
    return chain.objection_.empty() ? 1 : 0;
}

void EditedChain::start(const std::string& options, const std::string& regions) {
    auto settings = sized<specklescope_settings>();
    settings.options = options.c_str();
    settings.regions = regions.empty() ? nullptr : regions.c_str();
    settings.user = this;
    settings.goes_on = [](void* self, const char*, double) {
        return static_cast<EditedChain*>(self)->cancelled_ ? 0 : 1;
    };
    settings.agrees = agrees;
    cancelled_ = false;
    const std::scoped_lock lock(lock_);
    run_ = new_chain("", settings);
    check(specklescope_chain_copy(run_.get(), draft_.get()));
    runs_in_place_ = keeps_places(run_.get());
    settled_ = edits_;
    prepared_ = false;
    running_ = true;
}

void EditedChain::stop() {
    const std::scoped_lock lock(lock_);
    running_ = false;
    run_.reset();
}

specklescope_image EditedChain::output(const specklescope_image& input) {
    auto made = sized<specklescope_image>();
    check(specklescope_chain_output(run_.get(), &input, &made));
    prepared_ = true;
    return made;
}

specklescope_image EditedChain::settle(const specklescope_image& input, const Judge& judge) {
    if (edits_ == settled_)
        return output(input);
    try {
        if (!prepared_)
            (void)output(input); // the chain to return to
    } catch (const Refusal& refusal) {
        if (refusal.status() == SPECKLESCOPE_CANCELLED)
            throw;
    }
    {
        const std::scoped_lock lock(lock_);
        settled_ = edits_;
        check(specklescope_chain_copy(run_.get(), draft_.get()));
    }
    std::string refused;
    try {
        judge_ = &judge;
        objection_.clear();
        const specklescope_image made = output(input);
        judge_ = nullptr;
        const std::scoped_lock lock(lock_);
        runs_in_place_ = keeps_places(run_.get());
        return made;
    } catch (const Refusal& refusal) {
        judge_ = nullptr;
        if (refusal.status() == SPECKLESCOPE_CANCELLED)
            throw;
        refused = objection_.empty() ? refusal.what() : objection_;
    }
    {
        const std::scoped_lock lock(lock_);
        if (edits_ == settled_) // a newer edit is tried with the next frame
            check(specklescope_chain_copy(draft_.get(), run_.get()));
    }
    judge.refused(refused + " All edits since the last frame are undone.");
    return output(input);
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

void EditedView::set(const std::string& name, const std::string& value) {
    const std::scoped_lock lock(lock_);
    if (const auto known = values_.find(name); known != values_.end() && known->second == value)
        return;
    values_[name] = value;
    if (name == "low" || name == "high")
        values_[kAutomatic] = "false";
    changed_ = true;
}

std::optional<std::string> EditedView::get(const std::string& name) const {
    const std::scoped_lock lock(lock_);
    const auto known = values_.find(name);
    return known == values_.end() ? std::nullopt : std::optional(known->second);
}

bool EditedView::wants_automatic() const {
    if (const auto said = values_.find(kAutomatic); said != values_.end())
        return said->second == "true";
    for (const Declared& declared : declarations())
        if (declared.stage.empty() && declared.info.name == std::string_view(kAutomatic))
            return declared.info.default_value == std::string_view("true");
    return false;
}

std::string EditedView::text(bool grey) const {
    std::string text;
    for (const auto& [name, value] : values_)
        if (!grey || name != kColormap)
            text += (text.empty() ? "" : ",") + name + "=" + value;
    return grey ? text + (text.empty() ? "" : ",") + kColormap + "=grey" : text;
}

void EditedView::start() {
    {
        const std::scoped_lock lock(lock_);
        changed_ = true;
    }
    settle();
}

bool EditedView::settle() {
    const std::scoped_lock lock(lock_);
    if (!std::exchange(changed_, false))
        return false;
    ViewHandle colors = new_view(text(false)), grey = new_view(text(true));
    colors_ = std::move(colors);
    grey_ = std::move(grey);
    automatic_ = wants_automatic();
    return true;
}

} // namespace specklescope::element
