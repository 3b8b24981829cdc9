#include "recording/recorder/recorded_files.hpp"

#include "analysis/baseline_image.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/counts.hpp"

#include <spdlog/spdlog.h>

#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace specklescope {

namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

std::string size_text(std::uint64_t bytes) {
    char text[32];
    const double mib = static_cast<double>(bytes) / static_cast<double>(kMib);
    std::snprintf(text, sizeof text, mib < 10 ? "%.1f MiB" : "%.0f MiB", mib);
    return text;
}

} // namespace

DiskRoom::DiskRoom(const std::string& path, double keep_free)
    : path_(path), folder_(folder_of(path)), keep_free_(keep_free), began_(SteadyClock::now()) {
    read();
}

void DiskRoom::read() {
    struct statvfs disk {};
    known_ = ::statvfs(folder_.c_str(), &disk) == 0 && disk.f_blocks > 0;
    last_read_ = SteadyClock::now();
    since_ = 0;
    if (!known_)
        return;
    free_ = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    kept_ = static_cast<std::uint64_t>(static_cast<double>(disk.f_blocks) *
                                       static_cast<double>(disk.f_frsize) * keep_free_ / 100);
}

void DiskRoom::check(std::uint64_t bytes, const std::string& file, std::uint64_t written) {
    constexpr auto kReadEvery = std::chrono::milliseconds(100);
    constexpr std::uint64_t kReadAfter = 64 * kMib;
    if (folder_.empty() || keep_free_ == 0) // writing reports a full disk
        return;
    const auto read_now = [&] {
        read();
        std::error_code none;
        const std::uintmax_t stored = std::filesystem::file_size(file, none);
        since_ = none || stored > written ? 0 : written - stored;
    };
    if (since_ + bytes > kReadAfter || SteadyClock::now() - last_read_ >= kReadEvery)
        read_now();
    if (known_ && free_ < kept_ + since_ + bytes) {
        read_now();
        if (known_ && free_ < kept_ + since_ + bytes)
            throw RunError("Recording into " + path_ + " stopped: " + size_text(free_) +
                           " of the disk is free, and keep_free = " + to_string(keep_free_) + " % needs " +
                           size_text(kept_) + ". Free some space, or record into another folder.");
    }
    since_ += bytes;
}

double DiskRoom::left_s(std::uint64_t written) const {
    constexpr double kLeastTime = 0.5; // in s
    const double time = std::chrono::duration<double>(SteadyClock::now() - began_).count();
    if (!known_ || written == 0 || time < kLeastTime)
        return std::numeric_limits<double>::quiet_NaN();
    const double room =
        std::max(0.0, static_cast<double>(free_) - static_cast<double>(kept_) - static_cast<double>(since_));
    return room / (static_cast<double>(written) / time);
}

// Frames computed from others.

RecordedFrame DerivedFrames::of(const RecordedFrame& frame) {
    return options_.what == RecordWhat::mask      ? mask(frame)
           : frame.look                           ? painter_.of(frame)
           : options_.change && options_.baseline ? change(frame)
                                                  : frame;
}

Frame DerivedFrames::slot(const Shape& shape) {
    if (!ring_ || ring_->shape() != shape)
        ring_.emplace(shape, 1, host_memory());
    Frame slot = ring_->acquire(std::chrono::seconds(10));
    if (!slot)
        throw NoSlot();
    return slot;
}

RecordedFrame DerivedFrames::change(const RecordedFrame& result) {
    const BaselineImage& baseline = *options_.baseline;
    Shape shape = result.pixels.shape();
    const MadeWith with = made_with(result);
    if (const std::string misfit = baseline.misfit(shape, result.quantity, &with); !misfit.empty())
        throw RunError(baseline.refusal(misfit));
    shape.type = PixelType::f32;
    RecordedFrame change = result;
    change.pixels = slot(shape);
    change.quantity = change_of(result.quantity);
    baseline.change(result.pixels.host(), change.pixels.host());
    change.counts.undefined = change.counts.infinite = 0;
    const auto values = ConstHostView(change.pixels.host()).as<float>();
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            change.counts.undefined += std::isnan(values.row(y)[x]) ? 1 : 0;
            change.counts.infinite += std::isinf(values.row(y)[x]) ? 1 : 0;
        }
    return change;
}

RecordedFrame DerivedFrames::mask(const RecordedFrame& raw) {
    Shape shape = raw.pixels.shape();
    shape.type = PixelType::u8;
    RecordedFrame mask = raw;
    mask.pixels = slot(shape);
    mask.quantity = {"saturation mask", "", ""};
    mask.info.full_scale = type_full_scale(PixelType::u8);
    const ConstHostView from = raw.pixels.host();
    const HostView to = mask.pixels.host();
    // Nullopt for float without a full scale.
    const std::optional<double> threshold = saturation_threshold(from.shape.type, raw.info);
    dispatch(from.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const T limit = threshold ? static_cast<T>(*threshold) : T{};
        for (int y = 0; y < shape.height; ++y) {
            const T* row = from.as<T>().row(y);
            std::byte* marks = to.row(y);
            for (int x = 0; x < shape.width * shape.channels; ++x)
                marks[x] = threshold && row[x] >= limit ? std::byte{255} : std::byte{0};
        }
    });
    return mask;
}

// Files.

void RecordedFiles::open(const StreamInfo& stream) {
    check_timed(options_.limits, stream.source);
    disk_ = {};
    if (!options_.pipe) {
        check_folder(options_.path);
        check_length(options_.path, format_.beside.size());
        disk_ = DiskRoom(options_.path, options_.limits.keep_free);
        disk_.check(0);
    }
    stream_ = stream;
    stream_.source.rate = options_.limits.thinned(stream.source.rate);
    derived_.begin(stream);
    next_number_ = 0;
    progress_ = {};
    begin_ns_.reset();
    time_ = {};
    file_ = {};
    ended_ = {};
    last_ = {};
}

void RecordedFiles::check_present() const {
    if (!writer_->present())
        throw FileRemoved(writer_->path());
}

/// Bytes that the frame adds to its file: the mean of the previous frames, since an encoder may compress.
std::uint64_t RecordedFiles::bytes_of(const RecordedFrame& frame) const {
    if (writer_ && writer_->written() > 0)
        return writer_->bytes() / writer_->written();
    return format_.colors ? 0 : frame.pixels.shape().bytes();
}

bool RecordedFiles::is_full_for(const RecordedFrame& frame) const {
    const std::uint64_t here = writer_ ? writer_->bytes() : 0;
    return options_.limits.mib > 0 && (writer_ || ended_.written > 0) &&
           ended_.bytes + here + bytes_of(frame) > static_cast<std::uint64_t>(options_.limits.mib) * kMib;
}

/// True if the file cannot also contain this kind of frame.
bool RecordedFiles::is_another_kind(const RecordedFrame& frame) const {
    return frame.pixels.shape() != file_.shape || (!format_.colors && frame.quantity != file_.quantity);
}

bool RecordedFiles::wants_next_file(const RecordedFrame& frame) const {
    const RecordLimits& limits = options_.limits;
    return is_another_kind(frame) ||
           (limits.split_s > 0 &&
            static_cast<double>(file_.now_ns - file_.begin_ns) >= limits.split_s * 1e9) ||
           (limits.split_mib > 0 &&
            writer_->bytes() + bytes_of(frame) > static_cast<std::uint64_t>(limits.split_mib) * kMib);
}

double RecordedFiles::write(RecordedFrame& frame) {
    if (options_.limits.thins())
        frame.left_out_between = frame.left_out - last_.left_out;
    disk_.check(bytes_of(frame), writer_ ? writer_->path() : "", writer_ ? writer_->bytes() : 0);
    file_.now_ns = time_.at(frame.info.capture_ns, !frame.info.discontinuity);
    if (writer_ && options_.pipe && is_another_kind(frame))
        throw RunError("Recording into " + options_.path + " stopped: " + to_string(frame.pixels.shape()) +
                       " frames of " + frame.quantity.name +
                       " differ from those before, and a stream has one kind. Record into a file.");
    if (writer_ && !options_.pipe && wants_next_file(frame))
        finish(frame.dropped, true);
    if (!writer_)
        next_file(frame);
    if (last_.any && frame.info.sequence > last_.sequence)
        count_lost(frame.info.sequence - last_.sequence - 1,
                   frame.dropped - last_.dropped + frame.left_out_between.value_or(0));
    frame.lost = progress_.lost_before;
    last_ = {frame.info.sequence, frame.dropped, frame.left_out, true, true};
    const auto start = SteadyClock::now();
    writer_->write(frame);
    last_.failed = false;
    if (frame.info.has_time()) {
        begin_ns_ = begin_ns_.value_or(file_.now_ns);
        progress_.seconds = static_cast<double>(file_.now_ns - *begin_ns_) * 1e-9;
    }
    file_.in_warmup += frame.in_warmup ? 1 : 0;
    if (!stream_.source.clock.empty())
        file_.clock.add(frame.info);
    const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
    progress_.written = ended_.written + writer_->written();
    progress_.bytes = writer_->bytes();
    progress_.disk_left_s = disk_.left_s(ended_.bytes + progress_.bytes);
    return seconds;
}

void RecordedFiles::count_lost(std::uint64_t missing, std::uint64_t known) {
    const std::uint64_t lost = missing - std::min(missing, known);
    file_.lost += lost;
    progress_.lost_before += lost;
}

void RecordedFiles::count_lost_until(std::uint64_t newest, std::uint64_t dropped, std::uint64_t left_out) {
    if (last_.any && newest > last_.sequence)
        count_lost(newest - last_.sequence,
                   dropped - last_.dropped - (last_.failed ? 1 : 0) + left_out - last_.left_out);
}

void RecordedFiles::next_file(const RecordedFrame& first) {
    if (const std::string reason = cannot_hold(options_, first.pixels.shape()); !reason.empty())
        throw RunError(reason);
    RecordOptions options = options_;
    options.first_number = next_number_;
    writer_ = format_.make(first, options, stream_);
    for (int number = next_number_; writer_->named() && number < kMaxNumber; ++number)
        if (numbered(options_.path, number, format_.beside.size()) == writer_->path()) {
            next_number_ = number + 1;
            break;
        }
    const std::int64_t now_ns = file_.now_ns;
    file_ = {.shape = first.pixels.shape(),
             .quantity = first.quantity,
             .begin_ns = now_ns,
             .now_ns = now_ns,
             .clock = {}};
    run_log().info("Recording {} frames of {} into {}.", to_string(options_.what), to_string(file_.shape),
                   writer_->path());
    progress_.path = writer_->path();
    if (ended_.last.written > 0)
        progress_.before.push_back(std::exchange(ended_.last, {}));
}

FileTotals RecordedFiles::totals(std::uint64_t dropped) const {
    return {.written = writer_->written(),
            .dropped = dropped - ended_.dropped,
            .lost_before = file_.lost,
            .in_warmup = file_.in_warmup,
            .clock = file_.clock.report()};
}

void RecordedFiles::update(std::uint64_t dropped) {
    if (!writer_)
        return;
    check_present();
    writer_->update(totals(dropped));
}

void RecordedFiles::end_file(const std::string& path, std::uint64_t frames, std::uint64_t bytes) {
    ended_.last = {path, frames, bytes};
    ended_.written += frames;
    ended_.bytes += bytes;
    progress_.written = ended_.written;
    progress_.bytes = bytes;
    progress_.path = path;
}

void RecordedFiles::finish(std::uint64_t dropped, bool well) {
    if (!writer_)
        return;
    FileTotals last = totals(dropped);
    last.finished = well;
    ended_.dropped = dropped;
    const bool present = writer_->present(); // a later removal is not noticed
    const auto settle = [&] {
        std::error_code ignored;
        if (present && writer_->named() && writer_->written() == 0) // unreadable: remove it
            std::filesystem::remove(writer_->path(), ignored);
        end_file(writer_->path(), present ? writer_->written() : 0, writer_->bytes());
    };
    try {
        check_present();
        writer_->finish(last);
    } catch (...) {
        settle();
        writer_.reset();
        throw;
    }
    settle();
    const std::unique_ptr<FileWriter> writer = std::move(writer_);
    run_log().info("Recorded {} frame{} into {}, {} dropped, {} lost before the recorder.", writer->written(),
                   writer->written() == 1 ? "" : "s", writer->path(),
                   last.dropped + last.written - std::min(last.written, writer->written()), last.lost_before);
}

} // namespace specklescope
