#include "library/waiting.hpp"

#include <algorithm>
#include <utility>

namespace specklescope::library {

using std::chrono::milliseconds;

void Waiting::push(const Result& result, bool may_wait) {
    std::unique_lock lock(mutex_);
    if (may_wait)
        changed_.wait(lock,
                      [&] { return ended_ || open_ > 0 || result.seek < from_ || results_.size() < most_; });
    if (ended_ || result.seek < from_)
        return;
    if (!may_wait && results_.size() >= most_) {
        results_.pop_front();
        ++late_;
    }
    results_.push_back(result);
    lock.unlock();
    changed_.notify_all();
}

SinkStatus Waiting::status() const {
    const std::scoped_lock lock(mutex_);
    SinkStatus status;
    status.written = given_;
    status.dropped = late_;
    status.queued = results_.size();
    status.closed = ended_;
    return status;
}

void Waiting::hold(int slots) {
    const std::scoped_lock lock(mutex_);
    most_ = static_cast<std::size_t>(std::clamp(slots / 2, 2, 64));
}

bool Waiting::wait(milliseconds timeout) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return ended_ || !results_.empty(); });
    return !results_.empty();
}

std::optional<Result> Waiting::take(milliseconds timeout) {
    std::optional<Result> result;
    {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, timeout, [&] { return ended_ || !results_.empty(); });
        if (results_.empty())
            return result;
        result = std::move(results_.front());
        results_.pop_front();
        ++given_;
    }
    changed_.notify_all();
    return result;
}

void Waiting::pass_over(std::uint64_t seek) {
    {
        const std::scoped_lock lock(mutex_);
        from_ = seek;
        while (!results_.empty() && results_.front().seek < seek) // they are in order
            results_.pop_front();
    }
    changed_.notify_all();
}

void Waiting::stand_open(bool open) {
    {
        const std::scoped_lock lock(mutex_);
        open_ += open ? 1 : -1;
    }
    changed_.notify_all();
}

void Waiting::end() noexcept {
    {
        const std::scoped_lock lock(mutex_);
        ended_ = true;
        results_.clear();
    }
    changed_.notify_all();
}

bool Waiting::ended() const {
    const std::scoped_lock lock(mutex_);
    return ended_;
}

} // namespace specklescope::library
