#include "analysis/made_with.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {

std::string both(const std::string& what, const std::string& then, const std::string& now) {
    return what + " " + then + ", now " + now;
}

std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", value);
    return text.data();
}

std::string exposure_text(const Exposure& exposure) {
    return number(exposure.ms) + " ms" + (exposure.origin == ExposureOrigin::assumed ? " (assumed)" : "");
}

/// The first parameter that differs, or the whole chain if the stages differ. `exposure` is compared by its
/// used value, elsewhere. Buttons count: a new dark frame changes the results.
std::string chain_difference(const Chain& then, const Chain& now) {
    const Chain a = active(then), b = active(now);
    const bool same_stages =
        std::equal(a.stages().begin(), a.stages().end(), b.stages().begin(), b.stages().end(),
                   [](const ChainStage& old, const ChainStage& next) { return old.type == next.type; });
    if (!same_stages)
        return both("chain", text_in_effect(a), text_in_effect(b));
    for (std::size_t i = 0; i < a.stages().size(); ++i) {
        const Params &old = a.stages()[i].params, &next = b.stages()[i].params;
        for (const ParamDecl& decl : old.table().decls())
            if (decl.name != "exposure" && (old.visible(decl) || next.visible(decl)) &&
                old.get(decl.name) != next.get(decl.name))
                return both(std::string(a.stages()[i].type->name) + " " + decl.name,
                            to_string(old.get(decl.name)), to_string(next.get(decl.name)));
    }
    return "";
}

} // namespace

MadeWith made_with(const Result& result) {
    return {result.chain, grey_channel_of(result), result.exposure, result.info.full_scale};
}

std::string difference(const MadeWith& then, const MadeWith& now) {
    if (then.chain && now.chain && then.chain != now.chain)
        if (std::string chain = chain_difference(*then.chain, *now.chain); !chain.empty())
            return chain;
    if (!then.channel.empty() && !now.channel.empty() && then.channel != now.channel)
        return both("channel", then.channel, now.channel);
    if (then.exposure.known() && now.exposure.known() &&
        std::abs(then.exposure.ms - now.exposure.ms) >
            kSameExposure * std::max(then.exposure.ms, now.exposure.ms))
        return both("exposure", exposure_text(then.exposure), exposure_text(now.exposure));
    if (then.full_scale > 0 && now.full_scale > 0 && then.full_scale != now.full_scale)
        return both("full scale", number(then.full_scale), number(now.full_scale));
    return "";
}

void add_facts(MadeWith& known, const MadeWith& more) {
    if (!known.chain)
        known.chain = more.chain;
    if (known.channel.empty())
        known.channel = more.channel;
    if (!known.exposure.known())
        known.exposure = more.exposure;
    if (!(known.full_scale > 0))
        known.full_scale = more.full_scale;
}

std::string changed_since_baseline(const MadeWith* then, const MadeWith* now) {
    const std::string what = then && now ? difference(*then, *now) : "";
    return what.empty() ? "" : "settings changed since the baseline (" + what + "): take it again";
}

} // namespace specklescope
