#include "ui/histogram/sampler.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

HistogramSampler::HistogramSampler() : thread_([this] { run(); }) {}

HistogramSampler::~HistogramSampler() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
    }
    work_.notify_one();
    thread_.join();
}

void HistogramSampler::offer(HistogramOf of, Frame frame) {
    {
        const std::scoped_lock lock(mutex_);
        Task& task = tasks_[static_cast<std::size_t>(of)];
        std::swap(task.frame, frame); // the replaced frame is released after unlocking
        task.waits = true;
    }
    work_.notify_one();
}

void HistogramSampler::offer(HistogramOf of, std::vector<float> values, std::size_t pixels) {
    {
        const std::scoped_lock lock(mutex_);
        Task& task = tasks_[static_cast<std::size_t>(of)];
        task.frame.reset();
        std::swap(task.values, values);
        task.pixels = pixels;
        task.waits = true;
    }
    work_.notify_one();
}

void HistogramSampler::clear() {
    const std::scoped_lock lock(mutex_);
    ++cleared_;
    for (Task& task : tasks_)
        task = {};
    for (ValueSample& sample : ready_)
        sample.clear();
}

std::uint64_t HistogramSampler::made() const {
    const std::scoped_lock lock(mutex_);
    return made_;
}

void HistogramSampler::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        const auto waits = [](const Task& task) { return task.waits; };
        work_.wait(lock, [&] { return ends_ || std::any_of(tasks_.begin(), tasks_.end(), waits); });
        if (ends_)
            return;
        const auto at = std::find_if(tasks_.begin(), tasks_.end(), waits);
        Task task = std::exchange(*at, {});
        const std::uint64_t cleared = cleared_;
        lock.unlock();
        if (task.frame)
            making_.take(task.frame.host());
        else
            making_.take(task.values, task.pixels);
        task.frame.reset();
        lock.lock();
        if (cleared == cleared_) {
            std::swap(ready_[static_cast<std::size_t>(at - tasks_.begin())], making_);
            ++made_;
        }
    }
}

} // namespace specklescope
