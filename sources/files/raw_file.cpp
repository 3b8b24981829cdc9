#include "sources/files/raw_file.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "sources/playback_clock.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

namespace specklescope {

void RawStream::open(const std::string& path) {
    close();
    path_ = path;
    file_ = open_input(path, Pipes::taken);
    regular_ = std::filesystem::is_regular_file(path);
}

void RawStream::close() {
    file_.reset();
    begun_.clear();
    buffer_.clear();
    regular_ = false;
    at_ = 0;
}

int RawStream::descriptor() const { return ::fileno(file_.get()); }

std::uint64_t RawStream::size() const {
    struct stat now {};
    return regular_ && file_ && ::fstat(descriptor(), &now) == 0 ? static_cast<std::uint64_t>(now.st_size)
                                                                 : 0;
}

bool RawStream::seek(std::uint64_t byte) {
    at_ = byte;
    buffer_.clear();
    return regular_;
}

/// True if data or the end arrive before this time. Throws Cancelled.
bool RawStream::comes_before(SteadyClock::time_point end) const {
    constexpr std::chrono::milliseconds kLook(50);
    if (regular_)
        return true;
    work_goes_on("waiting for the rest of what comes out of the pipe '" + path_ + "'");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now());
    pollfd writer{descriptor(), POLLIN, 0};
    return left.count() > 0 && ::poll(&writer, 1, static_cast<int>(std::min(left, kLook).count())) > 0;
}

/// Reads the available bytes, at most `most`; 0 at the end.
std::size_t RawStream::read_some(std::byte* to, std::size_t most) {
    ssize_t got = 0;
    do
        got = regular_ ? ::pread(descriptor(), to, most, static_cast<off_t>(at_))
                       : ::read(descriptor(), to, most);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        cannot_read();
    at_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
}

void RawStream::cannot_read() const {
    throw RunError("'" + path_ + "' cannot be read: " + std::strerror(errno) +
                   "."); // NOLINT(concurrency-mt-unsafe)
}

void RawStream::skip_header(std::size_t bytes) {
    std::array<std::byte, 4096> scratch{};
    while (bytes > 0) {
        if (!comes_before(SteadyClock::time_point::max()))
            continue;
        const std::size_t got = read_some(scratch.data(), std::min(bytes, scratch.size()));
        if (got == 0)
            throw RunError("'" + path_ + "' ends within its header.");
        bytes -= got;
    }
}

std::optional<std::size_t> RawStream::read(std::span<std::byte> to) {
    constexpr std::chrono::milliseconds kPatience(100); // like Source::next()
    const auto end = SteadyClock::now() + kPatience;
    std::copy(begun_.begin(), begun_.end(), to.begin());
    std::size_t total = begun_.size();
    while (total < to.size()) {
        if (!comes_before(end)) {
            if (SteadyClock::now() < end)
                continue;
            begun_.assign(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(total));
            return std::nullopt;
        }
        const std::size_t got = read_some(to.data() + total, to.size() - total);
        if (got == 0)
            break;
        total += got;
    }
    begun_.clear();
    return total;
}

std::size_t RawStream::read_rows(HostView view, Band rows, std::uint64_t frame) const {
    const std::size_t row = view.shape.row_bytes();
    const std::size_t first = static_cast<std::size_t>(rows.begin) * row;
    const std::size_t last = static_cast<std::size_t>(rows.end) * row;
    std::size_t done = first;
    std::array<iovec, 256> parts; // NOLINT(cppcoreguidelines-pro-type-member-init): `count` of them are set
    while (done < last) {
        std::size_t count = 0;
        for (std::size_t at = done; at < last && count < parts.size(); ++count) {
            const std::size_t begun = at % row;
            const std::size_t length = view.pitch == row ? last - at : row - begun; // without gaps
            parts[count] = {view.row(static_cast<int>(at / row)) + begun, length};
            at += length;
        }
        const ssize_t got =
            ::preadv(descriptor(), parts.data(), static_cast<int>(count), static_cast<off_t>(frame + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            cannot_read();
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    return done - first;
}

std::size_t RawStream::read_together(std::span<const HostView> frames) {
    const std::size_t bytes = frames.front().shape.bytes();
    const std::uint64_t begin = at_;
    const auto whole = [bytes](auto&& read) {
        try {
            return read() == bytes;
        } catch (const RunError&) { // read() reports it after the frames before it
            return false;
        }
    };
    std::size_t count = 0;
    if (bytes <= kSmallBytes) {
        while (count < frames.size() && whole([&] { return read_small(frames[count]); }))
            ++count;
    } else {
        std::vector<char> read(frames.size());
        const int all = static_cast<int>(frames.size());
        readers_.run([&] {
            run_bands(all, std::min({all, threads_, parallel_threads()}), [&](int index, int) {
                const auto i = static_cast<std::size_t>(index);
                read[i] = whole([&] {
                    return read_rows(frames[i], {0, frames[i].shape.height}, begin + i * bytes);
                });
            });
        });
        count = static_cast<std::size_t>(std::find(read.begin(), read.end(), 0) - read.begin());
    }
    at_ = begin + count * bytes;
    return count;
}

std::size_t RawStream::read_small(HostView view) {
    const std::size_t bytes = view.shape.bytes(), row = view.shape.row_bytes();
    if (at_ < buffered_from_ || at_ + bytes > buffered_from_ + buffer_.size())
        fill_buffer(bytes);
    const std::byte* from = buffer_.data() + (at_ - buffered_from_);
    const std::size_t total = std::min(bytes, buffer_.size() - (at_ - buffered_from_));
    for (std::size_t done = 0, y = 0; done < total; done += row, ++y)
        std::memcpy(view.row(static_cast<int>(y)), from + done, std::min(row, total - done));
    at_ += total;
    return total;
}

void RawStream::fill_buffer(std::size_t least) {
    constexpr std::size_t kBuffer = std::size_t{1} << 16;      // stays in the cache
    std::vector<std::byte> block = std::exchange(buffer_, {}); // remains empty after an error
    block.resize(kBuffer);
    buffered_from_ = at_;
    std::size_t got = 0;
    for (std::size_t more = 1; got < least && more > 0; got += more)
        more = read_some(block.data() + got, kBuffer - got);
    block.resize(got);
    buffer_ = std::move(block);
    at_ = buffered_from_;
}

std::optional<std::size_t> RawStream::read(HostView view) {
    constexpr std::size_t kLeastBytes = std::size_t{1} << 19; // of a band
    const std::size_t row = view.shape.row_bytes();
    if (!regular_) {
        const std::optional<std::size_t> total = read(std::span(view.data, view.shape.bytes()));
        if (total)
            for (int y = view.shape.height - 1; y > 0 && view.pitch != row; --y)
                std::memmove(view.row(y), view.data + static_cast<std::size_t>(y) * row, row);
        return total;
    }
    if (view.shape.bytes() <= kSmallBytes)
        return read_small(view);
    const int most = static_cast<int>(std::min<std::size_t>(view.shape.bytes() / kLeastBytes, kMostThreads));
    const int bands = std::clamp(most, 1, parallel_threads());
    std::array<std::size_t, kMostThreads> got{};
    run_bands(bands, bands, [&](int band, int) {
        got[static_cast<std::size_t>(band)] = read_rows(view, band_rows(view.shape.height, bands, band), at_);
    });
    std::size_t total = 0; // up to the end of the file
    for (int band = 0; band < bands; ++band) {
        total += got[static_cast<std::size_t>(band)];
        if (total < static_cast<std::size_t>(band_rows(view.shape.height, bands, band).end) * row)
            break;
    }
    at_ += total;
    return total;
}

namespace {

struct Line {
    std::string text;
    bool whole = false; ///< it has a line end
};

/// The next line; lines longer than ours are truncated, so they are no valid JSON.
Line next_line(std::ifstream& file) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    Line line;
    int c = file.get();
    for (; c != std::ifstream::traits_type::eof() && c != '\n' && line.text.size() < kMost; c = file.get())
        line.text += static_cast<char>(c);
    line.whole = c != std::ifstream::traits_type::eof();
    return line;
}

} // namespace

bool RawSidecar::open(const std::string& raw_path) {
    close();
    const std::string beside = raw_path + ".jsonl";
    std::error_code none;
    if (std::filesystem::is_regular_file(beside, none)) // a pipe would block
        file_.open(beside, std::ios::binary);
    if (file_.is_open() && text_.begin(next_line(file_).text)) {
        next_line_ = file_.tellg();
        return true;
    }
    close();
    return false;
}

const Recorded& RawSidecar::next() {
    if (file_.is_open())
        text_.next(line(next_++)); // an incomplete last line of a killed program is no JSON
    return text_.now();
}

void RawSidecar::seek(std::uint64_t frame) { next_ = frame; }

/// Line of this frame; searched again each time, since lines may be written after their frames.
std::string RawSidecar::line(std::uint64_t frame) {
    std::string last;
    while (lines_.size() <= frame) {
        seek_file(next_line_);
        Line next = next_line(file_);
        if (!next.whole)
            return lines_.size() == frame ? next.text : "";
        lines_.push_back(next_line_);
        here_ = next_line_ = file_.tellg();
        last = std::move(next.text);
    }
    if (frame + 1 == lines_.size() && !last.empty())
        return last;
    seek_file(lines_[static_cast<std::size_t>(frame)]);
    last = next_line(file_).text;
    here_ = file_.tellg();
    return last;
}

void RawSidecar::seek_file(std::streamoff offset) {
    if (here_ == offset && file_.good())
        return;
    file_.clear();
    file_.seekg(offset);
    here_ = offset;
}

double RawSidecar::measure_rate(const std::string& raw_path) const {
    constexpr std::size_t kLooked = 33; // frames
    if (text_.now().rate > 0)
        return text_.now().rate;
    RawSidecar ahead;
    std::vector<std::int64_t> times;
    for (bool more = ahead.open(raw_path); more && times.size() < kLooked;) {
        const std::optional<std::int64_t> time = ahead.next().capture_ns;
        more = time.has_value();
        if (more)
            times.push_back(*time);
    }
    return rate_of(times);
}

std::optional<std::int64_t> RawSidecar::first_time(const std::string& raw_path) const {
    RawSidecar ahead;
    return is_open() && ahead.open(raw_path) ? ahead.next().capture_ns : std::nullopt;
}

std::optional<std::uint64_t> RawSidecar::frame_at(const std::string& raw_path, double seconds,
                                                  std::uint64_t frames) const {
    RawSidecar ahead;
    if (!is_open() || !ahead.open(raw_path))
        return std::nullopt;
    TimeSearch search(seconds);
    for (std::uint64_t i = 0; i < frames && search.add(ahead.next().capture_ns); ++i)
        work_goes_on("looking for a time in '" + raw_path + "'");
    return search.frame();
}

} // namespace specklescope
