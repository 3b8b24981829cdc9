#include "recording/traces.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/sentence.hpp"
#include "recording/table_file.hpp"
#include "recording/traces_text.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

constexpr TableKind kKind{kTracesMark, "traces", "--traces"};

class Traces final : public Sink {
public:
    explicit Traces(std::string path) : path_(std::move(path)) {}
    Traces(const Traces&) = delete;
    Traces& operator=(const Traces&) = delete;
    ~Traces() override { finish(); }

    void open(const StreamInfo& stream) override {
        finish();
        check_traces_file(path_);
        TableFile table(path_, traces_begin(stream));
        const std::scoped_lock lock(mutex_);
        table_ = std::move(table);
        status_ = {};
        status_.path = path_;
        status_.bytes = table_.bytes();
        told_.reset();
        placed_.reset();
        closing_ = failed_ = false;
        queue_.clear();
        rows_ = 0;
        thread_ = std::thread([this] { run(); });
        running_ = true;
    }

    void push(const Result& result, bool may_wait) override {
        if (result.repeated)
            return;
        Item item = {.result = without_pixels(result), .event = {}, .rows = 1};
        if (result.regions)
            item.rows += result.regions->statistics.size();
        {
            std::unique_lock lock(mutex_);
            if (!running_)
                return;
            if (may_wait)
                room_.wait(lock, [&] { return rows_ < kMostRows || closing_ || !status_.error.empty(); });
            if (rows_ >= kMostRows || closing_ || !status_.error.empty()) {
                ++status_.dropped;
                return;
            }
            rows_ += item.rows;
            queue_.push_back(std::move(item));
            ++status_.queued;
        }
        work_.notify_one();
    }

    void mark(const EventMark& event) override {
        {
            const std::scoped_lock lock(mutex_);
            if (!running_ || closing_ || !status_.error.empty())
                return;
            queue_.push_back({.result = {}, .event = event, .rows = 1});
            ++rows_;
        }
        work_.notify_one();
    }

    void close() noexcept override { finish(); }
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override {
        const std::scoped_lock lock(mutex_);
        return status_;
    }

private:
    struct Item {
        Result result;                  ///< without its pixels
        std::optional<EventMark> event; ///< instead of a result
        std::size_t rows = 0;
    };
    /// Waiting at once: 100 MB.
    static constexpr std::size_t kMostRows = std::size_t{1} << 20;
    /// From one write to the next, unless much has come.
    static constexpr std::chrono::milliseconds kPause{200};
    static constexpr std::size_t kManyRows = 4096;

    /// What rows and settings are made of; the pixels go home.
    static Result without_pixels(const Result& result) {
        Result kept;
        kept.info = result.info;
        kept.chain = result.chain;
        kept.quantity = result.quantity;
        kept.exposure = result.exposure;
        kept.regions = result.regions;
        return kept;
    }

    void finish() noexcept {
        const std::scoped_lock turn(close_mutex_);
        {
            const std::scoped_lock lock(mutex_);
            if (!running_)
                return;
            closing_ = true;
        }
        work_.notify_all();
        room_.notify_all();
        thread_.join();
        const std::scoped_lock lock(mutex_);
        running_ = false;
        status_.closed = true;
    }

    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            work_.wait(lock, [&] { return closing_ || !queue_.empty(); });
            // Those that come meanwhile go with the first.
            work_.wait_for(lock, kPause, [&] { return closing_ || rows_ >= kManyRows; });
            const bool last = closing_;
            const std::vector<Item> items = std::exchange(queue_, {});
            rows_ = 0;
            lock.unlock();
            room_.notify_all();
            write(items, last);
            lock.lock();
            if (last && queue_.empty())
                return;
        }
    }

    /// Errors stop these traces, loudly; nothing leaves the thread.
    void write(const std::vector<Item>& items, bool last) {
        std::string error;
        std::uint64_t bytes = 0;
        try {
            std::string text;
            for (const Item& item : items)
                if (item.event)
                    text += event_line(*item.event);
                else
                    add(item.result, text);
            if (last && !told_)
                text += traces_columns();
            const std::uint64_t before = table_.bytes();
            if (!failed_)
                error = error_of([&] { table_.append(text); });
            bytes = table_.bytes() - before;
        } catch (const std::exception& thrown) {
            error = "Traces into " + path_ + " stopped. " + sentence_of(thrown);
        }
        if (last && !failed_ && error.empty())
            error = error_of([&] { table_.close(); });
        const auto frames = static_cast<std::uint64_t>(
            std::count_if(items.begin(), items.end(), [](const Item& item) { return !item.event; }));
        const std::scoped_lock lock(mutex_);
        status_.queued -= frames;
        if (!error.empty() || failed_) {
            status_.dropped += frames;
            if (!failed_) {
                run_log().error("{}", error);
                status_.error = error;
            }
            failed_ = true;
            room_.notify_all();
            return;
        }
        status_.written += frames;
        status_.bytes += bytes;
    }

    /// The settings in front of the first rows, and again when they have changed.
    void add(const Result& result, std::string& text) {
        if (!result.regions)
            return;
        const std::string exposure = to_string(result.exposure);
        if (told_ != result.info.version || !same_places(placed_.get(), result.regions->placed.get())) {
            text += traces_settings(result);
            if (!told_)
                text += traces_columns();
            told_ = result.info.version;
            placed_ = result.regions->placed;
        } else if (exposure != exposure_) { // a camera's, by nobody's edit
            text += traces_exposure(result);
        }
        exposure_ = exposure;
        add_rows(result, text);
    }

    /// The sentence of what the table throws, or empty.
    static std::string error_of(auto&& work) {
        try {
            work();
            return "";
        } catch (const RunError& error) {
            return error.what();
        }
    }

    const std::string path_;

    mutable std::mutex mutex_;
    std::condition_variable work_, room_;
    std::vector<Item> queue_;
    std::size_t rows_ = 0; ///< in the queue
    SinkStatus status_;
    bool running_ = false, closing_ = false;
    std::mutex close_mutex_; ///< makes two that close take turns
    std::thread thread_;

    // The writing thread's, while it runs.
    TableFile table_;
    std::optional<std::uint64_t> told_; ///< the version that the settings were told of
    std::shared_ptr<const PlacedRegions> placed_;
    std::string exposure_;
    bool failed_ = false;
};

} // namespace

void check_traces_file(const std::string& path) { check_table(path, kKind); }

std::shared_ptr<Sink> make_traces(const std::string& path) { return std::make_shared<Traces>(path); }

} // namespace specklescope
