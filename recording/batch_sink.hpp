// Base of sinks that write values instead of images, in batches about five times a second.
#pragma once

#include "pipeline/threaded_sink.hpp"
#include "recording/record_file.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

/// The part of a batch that is in the file.
struct Written {
    std::uint64_t frames = 0; ///< complete frames from the first on; a part of the next may be in the file
    std::uint64_t bytes = 0;
};

template <class Item> class BatchSink : public ThreadedSink<Item> {
protected:
    using Items = std::deque<Item>;
    /// `most`: capacity of the queue, `many`: the size that is written without a pause.
    BatchSink(std::size_t most, std::size_t many)
        : ThreadedSink<Item>({.capacity = most, .many = many, .pause = std::chrono::milliseconds(200)}) {}

    std::uint64_t dropped() const { return this->status().dropped; }

    virtual bool is_frame(const Item&) const { return true; }
    /// Sets `written`, also where it throws. Not called after an error.
    virtual void write(const Items& items, Written& written) = 0;
    /// Throws RunError. `well`: everything accepted was written. dropped() counts the rest.
    virtual void finish_file(bool well) = 0;

private:
    void work(Items& items) final {
        Written written;
        const auto count = [&] {
            const auto frames = static_cast<std::uint64_t>(std::count_if(
                items.begin(), items.end(), [this](const Item& item) { return is_frame(item); }));
            const std::scoped_lock lock(this->mutex_);
            this->status_.queued -= frames;
            this->status_.written += written.frames;
            this->status_.dropped += frames - written.frames;
            this->status_.bytes += written.bytes;
        };
        try {
            if (this->status().error.empty())
                write(items, written);
        } catch (const FileRemoved&) {
            count();
            const std::scoped_lock lock(this->mutex_);
            this->status_.dropped += std::exchange(this->status_.written, 0);
            throw;
        } catch (...) {
            count();
            throw;
        }
        count();
    }
    void finish() final { finish_file(this->status().error.empty()); }
};

} // namespace specklescope
