#include "bench/peers/compare.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace specklescope::bench {

namespace {

nlohmann::ordered_json json_of(const Spread& spread) {
    return {{"median", spread.median}, {"low", spread.low}, {"high", spread.high}, {"rounds", spread.rounds}};
}

} // namespace

double wall_ms(const std::function<void()>& calls) {
    const auto begin = std::chrono::steady_clock::now();
    calls();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

nlohmann::ordered_json compare(const std::string& work, const Shape& shape, const std::string& peer,
                               const std::function<void(int)>& ours, const std::function<void(int)>& theirs,
                               const Clock& clock) {
    constexpr int kRounds = 15;
    constexpr double kRoundMs = 25;
    int i = 0;
    int j = 0;
    const auto ms_of = [&clock](const std::function<void(int)>& call, int calls, int& at) {
        return clock([&] {
                   for (int k = 0; k < calls; ++k)
                       call(at++);
               }) /
               calls;
    };
    ms_of(ours, 1, i);
    ms_of(theirs, 1, j);
    const auto calls_for = [](double one) {
        return std::max(1, static_cast<int>(kRoundMs / std::max(one, 1e-3)));
    };
    const int our_calls = calls_for(ms_of(ours, 1, i));
    const int their_calls = calls_for(ms_of(theirs, 1, j));
    std::vector<double> our_times;
    std::vector<double> their_times;
    for (int round = 0; round < kRounds; ++round) {
        our_times.push_back(ms_of(ours, our_calls, i));
        their_times.push_back(ms_of(theirs, their_calls, j));
    }
    const Spread our = spread_of(std::move(our_times));
    const Spread their = spread_of(std::move(their_times));
    std::fprintf(stderr, "%s, %s: %s ms; %s: %s ms\n", work.c_str(), to_string(shape).c_str(),
                 digits(our.median).c_str(), peer.c_str(), digits(their.median).c_str());
    return {{"work", work},
            {"image", to_string(shape)},
            {"peer", peer},
            {"peer_ms", json_of(their)},
            {"ours_ms", json_of(our)}};
}

nlohmann::ordered_json compare_on_host(const std::string& work, const Shape& shape, const std::string& peer,
                                       const HostPeer& make_theirs) {
    Chain chain;
    chain.add(work);
    const ChainStage& link = chain.stages().front();
    const auto stage = link.type->make_host(link.params);
    const Shape result = stage->prepare(shape);
    const int sets = rotation(shape, result);
    const std::vector<Frame> inputs = speckle_frames(shape, sets, host_memory());
    const std::vector<Frame> outputs = poisoned_frames(result, sets + 1, std::byte{0xa5});
    const auto ours = [&](int i) {
        const auto at = static_cast<std::size_t>(i % sets);
        PixelCounts counts;
        stage->run(inputs[at].host(), outputs[at].host(), {.info = inputs[at].info(), .counts = counts});
    };
    const std::function<void(int)> theirs = make_theirs(inputs, outputs.back());
    const std::string note = stage->note();
    return compare("CPU " + work + (note.empty() ? "" : " (" + note + ")"), shape, peer, ours,
                   [&](int i) { theirs(i % sets); });
}

} // namespace specklescope::bench
