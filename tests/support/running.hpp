// Helpers for tests of the running pipeline.
#pragma once

#include "base/parallel.hpp"
#include "pipeline/pipeline.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/scripted_source.hpp"
#include "tests/support/watching_sink.hpp"

#include <filesystem>
#include <string>

namespace specklescope::test {

inline PipelineOptions options(int slots = 6) {
    PipelineOptions made;
    made.threads = 1;
    made.slots = slots;
    made.silence_s = 60;
    return made;
}

inline Chain chain_of(const std::string& text) {
    Chain chain;
    if (!text.empty())
        chain.add(text);
    return chain;
}

/// All messages so far that contain the text.
class Listener {
public:
    explicit Listener(Pipeline& pipeline) : pipeline_(pipeline) {}
    int heard(const std::string& text) {
        for (Message& message : pipeline_.take_messages())
            all_ += message.text + "\n";
        int count = 0;
        for (std::size_t at = all_.find(text); at != std::string::npos; at = all_.find(text, at + 1))
            ++count;
        return count;
    }
    const std::string& all() {
        heard("");
        return all_;
    }

private:
    Pipeline& pipeline_;
    std::string all_;
};

/// Waits for a result that satisfies the condition.
template <class F> bool wait_result(Pipeline& pipeline, Result& result, F&& good) {
    return eventually([&] { return pipeline.mailbox().take(result) && good(result); });
}

inline int entries(const char* folder) {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}
inline int threads_now() { return entries("/proc/self/task"); }
/// Waits until at most `before` threads run. oneTBB creates threads on demand and keeps them; a joined thread
/// may be in /proc a moment longer.
inline bool threads_gone(int before) {
    return eventually([&] { return threads_now() <= std::max(before, parallel_threads()); });
}
inline int files_now() { return entries("/proc/self/fd"); }

} // namespace specklescope::test
