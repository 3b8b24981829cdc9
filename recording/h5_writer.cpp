// HDF5 files: frames, their times, traces and events as arrays that grow, in single-writer/multiple-reader
// mode (SWMR), so that other programs read the file while it grows.
//
// Frames are chunks of their own, written past the library's cache. Everything else is collected and appended
// ten times a second, before a flush that orders its writes so that the file can always be read.
#include "base/error.hpp"
#include "have_hdf5.hpp"
#include "recording/record_file.hpp"

#ifdef SPECKLESCOPE_HAVE_HDF5
#include "files/hdf5_object.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/disk_sync.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_HDF5

static_assert(std::endian::native == std::endian::little, "chunks of pixels are written as they are");

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLabelBytes = 128; ///< of an event or a region, in UTF-8

/// A failed call of the library; its error number is in errno, if it has one.
struct H5Failed : std::exception {};
template <class T> T done(T result) {
    if (result < 0)
        throw H5Failed();
    return result;
}

/// Marked as ASCII in arrays, also for UTF-8: Octave refuses files with other arrays of text.
H5Object text_type(std::size_t bytes, H5T_cset_t set = H5T_CSET_ASCII) {
    H5Object type(done(H5Tcopy(H5T_C_S1)), H5Tclose);
    done(H5Tset_size(type.id(), std::max<std::size_t>(bytes, 1)));
    done(H5Tset_strpad(type.id(), H5T_STR_NULLPAD));
    done(H5Tset_cset(type.id(), set));
    return type;
}

void set_attribute(hid_t object, const std::string& name, hid_t type, const void* value) {
    const H5Object space(done(H5Screate(H5S_SCALAR)), H5Sclose);
    const H5Object attribute(
        done(H5Acreate2(object, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
    done(H5Awrite(attribute.id(), type, value));
}
void set_attribute(hid_t object, const std::string& name, const std::string& value) {
    constexpr std::size_t kMost = 60'000; // an attribute has 64 KiB
    const std::string text = utf8_prefix(value, kMost);
    set_attribute(object, name, text_type(text.size(), H5T_CSET_UTF8).id(),
                  text.empty() ? "\0" : text.data());
}
void set_attribute(hid_t object, const std::string& name, double value) {
    set_attribute(object, name, H5T_NATIVE_DOUBLE, &value);
}

/// An array that grows along its first axis, and along its second one if that is `wide`.
class H5Column {
public:
    H5Column() = default;
    H5Column(hid_t file, const std::string& path, hid_t type, hsize_t chunk, bool wide = false)
        : type_(done(H5Tcopy(type)), H5Tclose), size_(H5Tget_size(type)), wide_(wide) {
        const std::array<hsize_t, 2> none{}, most{H5S_UNLIMITED, H5S_UNLIMITED}, chunks{chunk, 4};
        const int axes = wide ? 2 : 1;
        const H5Object space(done(H5Screate_simple(axes, none.data(), most.data())), H5Sclose);
        const H5Object made(done(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
        done(H5Pset_chunk(made.id(), axes, chunks.data()));
        if (wide)
            done(H5Pset_fill_value(made.id(), H5T_NATIVE_DOUBLE, &kNone));
        set_ = H5Object(
            done(H5Dcreate2(file, path.c_str(), type, space.id(), H5P_DEFAULT, made.id(), H5P_DEFAULT)),
            H5Dclose);
    }
    hid_t id() const { return set_.id(); }
    void add(const void* value, std::size_t bytes) {
        waiting_.append(static_cast<const char*>(value), bytes);
    }
    template <class T> void add(T value) { add(&value, sizeof value); }
    void add_text(const std::string& text) {
        std::string whole = utf8_prefix(text, size_);
        whole.resize(size_);
        waiting_ += whole;
    }
    std::size_t waiting() const { return waiting_.size(); }
    /// Appends what was added.
    void store() { store_rows(waiting_.size() / size_, 1); }
    /// Appends rows of `columns` values.
    void store_rows(hsize_t rows, hsize_t columns) {
        if (rows == 0)
            return;
        columns_ = std::max(columns_, columns);
        const std::array<hsize_t, 2> start{rows_, 0}, count{rows, columns}, all{rows_ + rows, columns_};
        done(H5Dset_extent(set_.id(), all.data()));
        rows_ += rows;
        if (columns == 0)
            return;
        const H5Object there(done(H5Dget_space(set_.id())), H5Sclose);
        const H5Object here(done(H5Screate_simple(wide_ ? 2 : 1, count.data(), nullptr)), H5Sclose);
        done(H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
        done(H5Dwrite(set_.id(), type_.id(), here.id(), there.id(), H5P_DEFAULT, waiting_.data()));
        waiting_.clear();
    }

private:
    H5Object type_, set_;
    std::size_t size_ = 1;
    bool wide_ = false;
    std::string waiting_;
    hsize_t rows_ = 0, columns_ = 0;
};

/// Bob Jenkins's lookup3, by which HDF5 checks its metadata; for a multiple of 4 bytes.
std::uint32_t h5_checksum(const unsigned char* bytes, std::size_t size) {
    std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(size), b = a, c = a;
    for (;; bytes += 12, size -= 12) {
        std::array<std::uint32_t, 3> words{};
        std::memcpy(words.data(), bytes, std::min<std::size_t>(size, sizeof words));
        a += words[0];
        b += words[1];
        c += words[2];
        if (size <= sizeof words)
            break;
        const auto mix = [](std::uint32_t& x, std::uint32_t y, std::uint32_t& z, int by) {
            x = (x - z) ^ std::rotl(z, by);
            z += y;
        };
        mix(a, b, c, 4);
        mix(b, c, a, 6);
        mix(c, a, b, 8);
        mix(a, b, c, 16);
        mix(b, c, a, 19);
        mix(c, a, b, 4);
    }
    const auto last = [](std::uint32_t& x, std::uint32_t y, int by) { x = (x ^ y) - std::rotl(y, by); };
    last(c, b, 14);
    last(a, c, 11);
    last(b, a, 25);
    last(c, b, 16);
    last(a, c, 4);
    last(b, a, 14);
    last(c, b, 24);
    return c;
}

/// The words of a quantity before its formula: speckle_flow_index.
std::string array_name(const std::string& quantity) {
    std::string name;
    for (const char c : quantity) {
        if (c != ' ' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'))
            break;
        name += c == ' ' ? '_' : c;
    }
    while (name.ends_with('_'))
        name.pop_back();
    return name.empty() ? "values" : name;
}

class H5Writer final : public FileWriter {
public:
    H5Writer(const RecordedFrame& first, const RecordOptions& options, const StreamInfo& stream)
        : shape_(first.pixels.shape()), description_(describe_file(first, options, stream, {})) {
        file_ = create_new(options.path, path_, options.first_number);
        try {
            const std::lock_guard lock(hdf5_mutex());
            reserve(kSpare + description_.size()); // nothing is begun on a full disk
            create(first, options, um_per_px(stream, first.chain.get()));
        } catch (const H5Failed&) {
            const int error = errno;
            leave_nothing();
            throw RunError(write_error(path_, error != 0 ? error : EIO));
        } catch (...) {
            leave_nothing();
            throw;
        }
        sync_.emplace(file_.fd());
    }
    H5Writer(const H5Writer&) = delete;
    H5Writer& operator=(const H5Writer&) = delete;
    ~H5Writer() override {
        const std::lock_guard lock(hdf5_mutex());
        close();
    }

    void write(const RecordedFrame& frame) override {
        const std::string line = describe_frame(frame) + "\n";
        guarded([&] {
            reserve(kSpare + shape_.bytes() + line.size() + waiting());
            write_pixels(frame.pixels.host());
            ++frames_;
            add_facts(frame, line);
            if (SteadyClock::now() >= next_flush_)
                flush();
        });
        if (const int error = sync_->advance(bytes()); error != 0)
            fail(error);
    }

    void update(const FileTotals& totals) override {
        guarded([&] {
            say(totals);
            flush();
        });
    }

    void finish(const FileTotals& totals) override {
        const int late = sync_->stop();
        FileTotals known = totals;
        known.finished = totals.finished && late == 0;
        const auto end = [&] {
            say(known);
            flush();
            if (!close())
                throw H5Failed();
        };
        if (frames_ > 0)
            guarded(end);
        end_ = file_.bytes();
        // Returns the space that reserve() took.
        if (::ftruncate(file_.fd(), static_cast<off_t>(file_.bytes())) != 0 || !file_.close())
            throw RunError(write_error(path_, errno));
        if (late != 0 && !failed_)
            throw RunError(write_error(path_, late));
    }

    std::uint64_t written() const override { return frames_; }
    std::uint64_t bytes() const override { return end_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return file_.has_name(); }

private:
    /// For the arrays and indices that change until the next flush.
    static constexpr std::uint64_t kSpare = 256 << 10;
    static constexpr std::uint64_t kPiece = 16 << 20; ///< reserved at once: each call costs time
    static constexpr auto kFlushEvery = std::chrono::milliseconds(100);

    void leave_nothing() {
        const std::lock_guard lock(hdf5_mutex());
        (void)close();
        ::unlink(path_.c_str());
    }
    [[noreturn]] void fail(int error) {
        failed_ = true;
        throw RunError(write_error(path_, error));
    }
    template <class F> void guarded(F&& act) {
        const std::lock_guard lock(hdf5_mutex());
        errno = 0;
        try {
            act();
        } catch (const H5Failed&) {
            fail(errno != 0 ? errno : EIO);
        }
    }

    /// Allocates the next bytes of the file: the library cannot complete a file after a failed write.
    void reserve(std::uint64_t bytes) {
        if (h5_)
            done(H5Fget_eoa(h5_.id(), &end_));
        rlimit most{};
        if (::getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
            end_ + bytes > most.rlim_cur)
            fail(EFBIG);
        if (end_ + bytes <= reserved_)
            return;
        for (const std::uint64_t wanted : {bytes + kPiece, bytes}) {
            errno = 0;
            if (::fallocate(file_.fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end_),
                            static_cast<off_t>(wanted)) == 0) {
                reserved_ = end_ + wanted;
                return;
            }
        }
        if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
            fail(errno);
        errno = 0; // not every file system can reserve
    }

    void create(const RecordedFrame& first, const RecordOptions& options, double um) {
        constexpr hsize_t kRows = 1024, kTextBytes = 64 << 10, kFew = 16, kSome = 128;
        constexpr hsize_t kAligned = 64 << 10, kPage = 4096;
        (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // reported by our own errors
        const H5Object access(done(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
        done(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110));
        done(H5Pset_alignment(access.id(), kAligned, kPage));
        const std::string same = "/proc/self/fd/" + std::to_string(file_.fd()); // not another of that name
        h5_ = H5Object(done(H5Fcreate(same.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id())), H5Fclose);
        reserved_ = 0; // the library has emptied the file
        reserve(kSpare + description_.size());
        const bool raw = options.what == RecordWhat::raw;
        const std::string group = raw ? "/raw" : "/maps";
        std::vector<std::string> groups{group, "/settings", "/events"};
        if (options.what == RecordWhat::processed)
            groups.emplace_back("/traces");
        for (const std::string& name : groups)
            H5Object(done(H5Gcreate2(h5_.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)),
                     H5Gclose);
        create_frames(group + "/" + (raw ? "frames" : array_name(first.quantity.name)), first, um);
        create_settings();
        const auto column = [&](const std::string& path, hid_t type, hsize_t chunk) {
            return &columns_.emplace_back(h5_.id(), path, type, chunk);
        };
        columns_.reserve(kFew); // the pointers stay valid
        times_ = column(group + "/timestamps", H5T_NATIVE_DOUBLE, kRows);
        exposures_ = column(group + "/exposure", H5T_NATIVE_DOUBLE, kRows);
        sequence_ = column(group + "/sequence", H5T_NATIVE_UINT64, kRows);
        dropped_ = column(group + "/dropped_before", H5T_NATIVE_UINT64, kRows);
        lines_ = column(kH5Lines, H5T_NATIVE_UINT8, kTextBytes);
        ends_ = column(kH5Ends, H5T_NATIVE_UINT64, kRows);
        const H5Object label = text_type(kLabelBytes);
        event_numbers_ = column("/events/number", H5T_NATIVE_UINT64, kSome);
        event_sequence_ = column("/events/sequence", H5T_NATIVE_UINT64, kSome);
        event_times_ = column("/events/timestamps", H5T_NATIVE_DOUBLE, kSome);
        event_labels_ = column("/events/label", label.id(), kSome);
        event_removed_ = column("/events/removed", H5T_NATIVE_UINT8, kSome);
        for (const H5Column* times : {times_, event_times_})
            set_attribute(times->id(), "unit", std::string("s"));
        if (const auto started = nlohmann::json::parse(description_).at("started"); started.is_string())
            set_attribute(times_->id(), "started", started.get<std::string>());
        set_attribute(exposures_->id(), "unit", std::string("ms"));
        if (options.what == RecordWhat::processed) {
            region_names_ = column("/traces/regions", label.id(), kFew);
            means_ = H5Column(h5_.id(), "/traces/mean", H5T_NATIVE_DOUBLE, kRows, true);
            deviations_ = H5Column(h5_.id(), "/traces/std", H5T_NATIVE_DOUBLE, kRows, true);
            for (const H5Column* trace : {&means_, &deviations_})
                set_attribute(trace->id(), "unit", first.quantity.unit);
            done(H5Lcreate_hard(h5_.id(), "/maps/timestamps", h5_.id(), "/traces/timestamps", H5P_DEFAULT,
                                H5P_DEFAULT));
        }
        done(H5Fstart_swmr_write(h5_.id()));
        flush();
    }

    void create_frames(const std::string& path, const RecordedFrame& first, double um) {
        const auto height = static_cast<hsize_t>(shape_.height), width = static_cast<hsize_t>(shape_.width);
        const std::array<hsize_t, 3> none{0, height, width}, most{H5S_UNLIMITED, height, width},
            chunk{1, height, width};
        const H5Object space(done(H5Screate_simple(3, none.data(), most.data())), H5Sclose);
        const H5Object made(done(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
        done(H5Pset_chunk(made.id(), 3, chunk.data()));
        set_ = H5Object(done(H5Dcreate2(h5_.id(), path.c_str(),
                                        shape_.type == PixelType::u8    ? H5T_STD_U8LE
                                        : shape_.type == PixelType::u16 ? H5T_STD_U16LE
                                                                        : H5T_IEEE_F32LE,
                                        space.id(), H5P_DEFAULT, made.id(), H5P_DEFAULT)),
                        H5Dclose);
        set_attribute(set_.id(), "axes", std::string("time, height, width"));
        set_attribute(set_.id(), "quantity", first.quantity.name);
        set_attribute(set_.id(), "unit", first.quantity.unit);
        if (um > 0)
            set_attribute(set_.id(), "um_per_px", um);
        if (first.info.full_scale > 0 && !first.chain)
            set_attribute(set_.id(), "full_scale", first.info.full_scale);
    }

    /// The description as it is, and its plain values as attributes for programs without JSON.
    void create_settings() {
        const H5Object settings(done(H5Gopen2(h5_.id(), "/settings", H5P_DEFAULT)), H5Gclose);
        const nlohmann::json json = nlohmann::json::parse(description_);
        const nlohmann::json totals = nlohmann::json::parse("{" + totals_text({}) + "}");
        for (const auto& [key, value] : json.items()) {
            if (totals.contains(key)) // they change
                continue;
            if (value.is_string())
                set_attribute(settings.id(), key, value.get<std::string>());
            else if (value.is_number())
                set_attribute(settings.id(), key, value.get<double>());
        }
        text_type_ = text_type(description_.size());
        const H5Object space(done(H5Screate(H5S_SCALAR)), H5Sclose);
        text_ = H5Object(done(H5Dcreate2(h5_.id(), kH5Description, text_type_.id(), space.id(), H5P_DEFAULT,
                                         H5P_DEFAULT, H5P_DEFAULT)),
                         H5Dclose);
        say({});
    }

    void say(const FileTotals& totals) {
        description_.replace(1, kTotalsChars, totals_text(totals));
        done(H5Dwrite(text_.id(), text_type_.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, description_.data()));
    }

    void write_pixels(ConstHostView pixels) {
        const void* data = pixels.data;
        if (pixels.pitch != shape_.row_bytes()) {
            rows_.resize(shape_.bytes());
            for (int y = 0; y < shape_.height; ++y)
                std::memcpy(rows_.data() + static_cast<std::size_t>(y) * shape_.row_bytes(), pixels.row(y),
                            shape_.row_bytes());
            data = rows_.data();
        }
        extend(frames_ + 1);
        const std::array<hsize_t, 3> at{frames_, 0, 0};
        if (H5Dwrite_chunk(set_.id(), H5P_DEFAULT, 0, at.data(), shape_.bytes(), data) >= 0)
            return;
        const int error = errno;
        extend(frames_);
        errno = error;
        throw H5Failed();
    }
    void extend(std::uint64_t frames) {
        const std::array<hsize_t, 3> all{frames, static_cast<hsize_t>(shape_.height),
                                         static_cast<hsize_t>(shape_.width)};
        done(H5Dset_extent(set_.id(), all.data()));
    }

    double seconds(bool timed, std::int64_t capture_ns) {
        if (timed && !begin_ns_)
            begin_ns_ = capture_ns;
        return timed ? static_cast<double>(capture_ns - *begin_ns_) / 1e9 : kNone;
    }

    void add_facts(const RecordedFrame& frame, const std::string& line) {
        times_->add(seconds(frame.info.has_time(), frame.info.capture_ns));
        exposures_->add(frame.exposure.ms);
        sequence_->add(frame.info.sequence);
        dropped_->add(frame.dropped + frame.lost);
        lines_->add(line.data(), line.size());
        line_bytes_ += line.size();
        ends_->add(line_bytes_);
        for (const EventMark& event : frame.events) {
            event_numbers_->add(event.number);
            event_sequence_->add(event.sequence);
            event_times_->add(seconds(event.timed, event.capture_ns));
            event_labels_->add_text(event.label);
            event_removed_->add(std::uint8_t{event.removed});
        }
        if (region_names_)
            add_traces(frame.values.get());
    }

    /// A column for each name; NaN before it appeared and while it is missing.
    void add_traces(const RegionValues* values) {
        const std::size_t count = values ? values->statistics.size() : 0;
        const auto name = [&](std::size_t i) { return values->placed->regions[i].name; };
        for (std::size_t i = 0; i < count; ++i)
            if (!regions_.contains(name(i))) {
                store_traces();
                regions_.emplace(name(i), regions_.size());
                region_names_->add_text(name(i));
            }
        std::vector<double> mean(regions_.size(), kNone), std = mean;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = regions_.at(name(i));
            mean[at] = values->statistics[i].mean;
            std[at] = values->statistics[i].std;
        }
        means_.add(mean.data(), mean.size() * sizeof(double));
        deviations_.add(std.data(), std.size() * sizeof(double));
        ++trace_rows_;
    }

    void store_traces() {
        means_.store_rows(trace_rows_, regions_.size());
        deviations_.store_rows(trace_rows_, regions_.size());
        trace_rows_ = 0;
    }

    std::uint64_t waiting() const {
        std::uint64_t bytes = means_.waiting() + deviations_.waiting();
        for (const H5Column& column : columns_)
            bytes += column.waiting();
        return bytes;
    }

    void flush() {
        if (region_names_)
            store_traces();
        for (H5Column& column : columns_)
            column.store();
        done(H5Fflush(h5_.id(), H5F_SCOPE_GLOBAL));
        done(H5Fget_eoa(h5_.id(), &end_));
        admit_readers();
        next_flush_ = SteadyClock::now() + kFlushEvery;
    }

    /// Clears the marks of an open file: the library would refuse it to readers that do not know SWMR, also
    /// after a kill. Each flush sets them again.
    void admit_readers() const {
        constexpr std::size_t kMarks = 11, kSum = 44; // of superblock 3
        std::array<unsigned char, kSum + sizeof(std::uint32_t)> block{};
        if (::pread(file_.fd(), block.data(), block.size(), 0) != static_cast<ssize_t>(block.size()))
            throw H5Failed();
        block[kMarks] = 0;
        const std::uint32_t sum = h5_checksum(block.data(), kSum);
        std::memcpy(block.data() + kSum, &sum, sizeof sum);
        if (file_.write_at(0, block.data(), block.size()) != 0)
            throw H5Failed();
    }

    /// False if the end could not be stored.
    bool close() noexcept {
        columns_.clear();
        means_ = {};
        deviations_ = {};
        text_ = {};
        text_type_ = {};
        set_ = {};
        return h5_.close();
    }

    const Shape shape_;
    std::string description_, path_;
    File file_;
    H5Object h5_, set_, text_, text_type_;
    std::vector<H5Column> columns_; ///< of one axis
    H5Column *times_ = nullptr, *exposures_ = nullptr, *sequence_ = nullptr, *dropped_ = nullptr,
             *lines_ = nullptr, *ends_ = nullptr, *event_numbers_ = nullptr, *event_sequence_ = nullptr,
             *event_times_ = nullptr, *event_labels_ = nullptr, *event_removed_ = nullptr,
             *region_names_ = nullptr; ///< null without traces
    H5Column means_, deviations_;
    std::map<std::string, std::size_t> regions_; ///< columns of the traces by name
    hsize_t trace_rows_ = 0;                     ///< not stored yet
    std::vector<std::byte> rows_;                ///< of a frame with padding
    std::optional<std::int64_t> begin_ns_;
    std::uint64_t frames_ = 0, line_bytes_ = 0;
    haddr_t end_ = 0;
    std::uint64_t reserved_ = 0; ///< end of the allocated bytes
    SteadyClock::time_point next_flush_{};
    bool failed_ = false;
    std::optional<DiskSync> sync_; ///< declared last: it stops before the file is closed
};

} // namespace

void check_h5(RecordWhat) {}

std::unique_ptr<FileWriter> make_h5_writer(const RecordedFrame& first, const RecordOptions& options,
                                           const StreamInfo& stream) {
    return std::make_unique<H5Writer>(first, options, stream);
}

#else

void check_h5(RecordWhat) {
    throw RunError("This program was built without HDF5 (libhdf5-dev). Record as .tiff.");
}

std::unique_ptr<FileWriter> make_h5_writer(const RecordedFrame&, const RecordOptions& options,
                                           const StreamInfo&) {
    check_h5(options.what);
    return nullptr;
}

#endif

} // namespace specklescope
