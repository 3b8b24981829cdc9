#include "pipeline/result.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

std::optional<Result> named_result(const Result& result, std::string_view name) {
    if (!result.also)
        return std::nullopt;
    const auto found = std::find_if(result.also->begin(), result.also->end(),
                                    [&](const NamedImage& one) { return one.name == name; });
    if (found == result.also->end())
        return std::nullopt;
    Result named = result;
    named.image = found->image;
    named.device_image = found->device_image;
    named.memory.reset();
    named.quantity = found->quantity;
    named.counts = found->counts;
    named.regions = found->regions;
    named.chain = found->chain;
    named.exposure = exposure_used(*found->chain, found->quantity, result.info);
    named.warmup = found->warmup;
    return named;
}

void Result::describe(const Chain& stages, const FrameInfo& last) {
    info.motion = last.motion;
    if (std::exchange(info.summed, last.summed) != last.summed)
        exposure = exposure_used(stages, info);
}

std::shared_ptr<const std::vector<NamedImage>>
without_pixels(const std::shared_ptr<const std::vector<NamedImage>>& also) {
    if (!also)
        return nullptr;
    auto kept = std::make_shared<std::vector<NamedImage>>(*also);
    for (NamedImage& one : *kept)
        one.image = one.device_image = Frame();
    return kept;
}

Result without_pixels(const Result& result) {
    Result kept;
    kept.info = result.info;
    kept.chain = result.chain;
    kept.quantity = result.quantity;
    kept.exposure = result.exposure;
    kept.counts = result.counts;
    kept.regions = result.regions;
    kept.to_grey = result.to_grey;
    kept.warmup = result.warmup;
    kept.also = without_pixels(result.also);
    return kept;
}

std::string grey_channel_of(const Result& result) {
    return result.to_grey && result.chain ? to_string(result.chain->channel()) : "";
}

void Mailbox::post(Result result) {
    {
        const std::scoped_lock lock(mutex_);
        if (fresh_)
            ++replaced_;
        std::swap(newest_, result); // the old one is released after the lock
        fresh_ = true;
    }
    if (notify_)
        notify_();
}

bool Mailbox::take(Result& out) {
    Result old;
    const std::scoped_lock lock(mutex_);
    if (!fresh_)
        return false;
    old = std::exchange(out, std::move(newest_));
    newest_ = Result();
    fresh_ = false;
    return true;
}

void Mailbox::clear() {
    Result old;
    const std::scoped_lock lock(mutex_);
    old = std::exchange(newest_, Result());
    fresh_ = false;
    replaced_ = 0;
}

std::uint64_t Mailbox::replaced() const {
    const std::scoped_lock lock(mutex_);
    return replaced_;
}

} // namespace specklescope
