#include "bench/peers/compare.hpp"

#include "bench/host.hpp"
#include "bench/report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace specklescope::bench {

namespace {

/// None without a choice.
std::optional<SimdLimit> limit_to(const std::string& simd) {
    return simd.empty() ? std::nullopt : std::optional<SimdLimit>(std::in_place, simd);
}

} // namespace

double wall_ms(const std::function<void()>& calls) {
    const auto begin = std::chrono::steady_clock::now();
    calls();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

nlohmann::ordered_json compare(const std::string& work, const Shape& shape, const std::string& peer,
                               const std::vector<OurSide>& ours, const std::function<void(int)>& theirs,
                               const Clock& clock) {
    constexpr int kRounds = 15;
    constexpr double kRoundMs = 25;
    struct Side {
        const std::function<void(int)>& call;
        std::string simd;
        int at = 0, calls = 1;
        std::vector<double> times = {};
    };
    std::vector<Side> sides{{theirs, ""}};
    for (const OurSide& our : ours)
        sides.push_back({our.call, our.simd});
    const auto ms_of = [&clock](Side& side) {
        const std::optional<SimdLimit> limit = limit_to(side.simd);
        return clock([&side] {
                   for (int k = 0; k < side.calls; ++k)
                       side.call(side.at++);
               }) /
               side.calls;
    };
    for (Side& side : sides) {
        ms_of(side); // warm
        side.calls = std::max(1, static_cast<int>(kRoundMs / std::max(ms_of(side), 1e-3)));
    }
    for (int round = 0; round < kRounds; ++round)
        for (Side& side : sides)
            side.times.push_back(ms_of(side));
    const Spread their = spread_of(std::move(sides[0].times));
    nlohmann::ordered_json by_simd = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const Spread our = spread_of(std::move(sides[i + 1].times));
        by_simd[ours[i].simd] = json_of(our);
        std::fprintf(stderr, "%s, %s: %s ms%s%s; %s: %s ms\n", work.c_str(), to_string(shape).c_str(),
                     digits(our.median).c_str(), ours[i].simd.empty() ? "" : " with ", ours[i].simd.c_str(),
                     peer.c_str(), digits(their.median).c_str());
    }
    nlohmann::ordered_json row = {{"work", work},
                                  {"image", to_string(shape)},
                                  {"peer", peer},
                                  {"peer_ms", json_of(their)},
                                  {"ours_ms", by_simd.front()}};
    if (ours.size() > 1)
        row["ours_ms_by_simd"] = std::move(by_simd);
    return row;
}

nlohmann::ordered_json compare_on_host(const std::string& work, const Shape& shape, const std::string& peer,
                                       const HostPeer& make_theirs) {
    Chain chain;
    chain.add(work);
    const ChainStage& link = chain.stages().front();
    std::vector<std::string> simd = simd_to_compare();
    if (simd.empty())
        simd.emplace_back();
    std::vector<std::unique_ptr<HostStage>> stages;
    Shape result;
    for (const std::string& name : simd) {
        const std::optional<SimdLimit> limit = limit_to(name);
        stages.push_back(link.type->make_host(link.params));
        result = stages.back()->prepare(shape);
    }
    const int sets = rotation(shape, result);
    const std::vector<Frame> inputs = speckle_frames(shape, sets, host_memory());
    const std::vector<Frame> outputs = poisoned_frames(result, sets + 1, std::byte{0xa5});
    std::vector<OurSide> ours;
    for (std::size_t k = 0; k < simd.size(); ++k)
        ours.push_back({simd[k], [&, k](int i) {
                            const auto at = static_cast<std::size_t>(i % sets);
                            PixelCounts counts;
                            stages[k]->run(inputs[at].host(), outputs[at].host(),
                                           {.info = inputs[at].info(), .counts = counts});
                        }});
    const std::function<void(int)> theirs = make_theirs(inputs, outputs.back());
    const std::string note = stages.front()->note();
    return compare("CPU " + work + (note.empty() ? "" : " (" + note + ")"), shape, peer, ours,
                   [&](int i) { theirs(i % sets); });
}

} // namespace specklescope::bench
