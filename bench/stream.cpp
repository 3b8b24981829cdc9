#include "bench/stream.hpp"

#include "bench/cases.hpp"
#include "pipeline/error.hpp"

#include <deque>

namespace specklescope::bench {

StreamRun run_stream(Executor& executor, const std::string& chain, const Shape& shape, bool want_host,
                     double seconds) {
    auto links = std::make_shared<Chain>();
    links->add(chain);
    executor.set_chain(links, 1);
    const int sets = rotation(shape, shape);
    const std::vector<Frame> frames = speckle_frames(shape, sets, executor.slot_memory());
    std::deque<SteadyClock::time_point> submitted;
    double waited = 0;
    StreamRun run;
    Shape output;
    const auto collect = [&](bool wait) {
        const std::optional<Result> result = executor.collect(wait);
        if (!result)
            return false;
        output = result->shape();
        waited += std::chrono::duration<double, std::milli>(SteadyClock::now() - submitted.front()).count();
        submitted.pop_front();
        ++run.frames;
        return true;
    };
    const auto stream_for = [&](double length) {
        run = {};
        waited = 0;
        const auto begin = SteadyClock::now();
        const auto elapsed = [&] {
            return std::chrono::duration<double>(SteadyClock::now() - begin).count();
        };
        for (std::size_t i = 0; elapsed() < length; ++i) {
            while (executor.in_flight() == executor.capacity() ||
                   !executor.wait_slot(std::chrono::milliseconds(0)))
                if (!collect(true))
                    throw RunError("The executor has no slot and nothing in flight.");
            submitted.push_back(SteadyClock::now());
            executor.submit(frames[i % frames.size()], want_host);
        }
        while (executor.in_flight() > 0)
            collect(true);
        return elapsed();
    };
    stream_for(0.2 * seconds); // warm-up
    const double time = stream_for(seconds);
    run.frames_per_s = run.frames / time;
    run.up_gb_per_s = run.frames_per_s * static_cast<double>(shape.bytes()) * 1e-9;
    run.down_gb_per_s = want_host ? run.frames_per_s * static_cast<double>(output.bytes()) * 1e-9 : 0;
    run.latency_ms = waited / run.frames;
    return run;
}

} // namespace specklescope::bench
