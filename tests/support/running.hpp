// What the tests of the running pipeline share.
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

/// The newest result that satisfies the condition, waited for.
template <class F> bool wait_result(Pipeline& pipeline, Result& result, F&& good) {
    return eventually([&] { return pipeline.mailbox().take(result) && good(result); });
}

inline int entries(const char* folder) {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}
inline int threads_now() { return entries("/proc/self/task"); }
/// Waits until no more threads run than `before`. oneTBB makes its own when it has work for them, and keeps
/// them; a thread that has been joined may stand in /proc a moment longer.
inline bool threads_gone(int before = 0) {
    return eventually([&] { return threads_now() <= std::max(before, parallel_threads()); });
}
inline int files_now() { return entries("/proc/self/fd"); }

} // namespace specklescope::test
