#include "sources/files/raw_source.hpp"
#include "base/log.hpp"
#include "sources/registry.hpp"

#include "files/input_file.hpp"
#include "files/stored_pixels.hpp"
#include "pipeline/source.hpp"
#include "sources/exposures.hpp"
#include "sources/files/raw_file.hpp"
#include "sources/full_scale.hpp"
#include "sources/pacer.hpp"
#include "sources/playback_clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

namespace specklescope {

namespace {

constexpr int kMaxHeader = 1 << 30;

const ParamTable& raw_table();

/// In the order of RawOptions::Format.
constexpr auto kRawPixels = std::to_array<std::pair<const char*, StoredPixels>>({
    {"gray8", stored::kGray8},
    {"gray16le", stored::kGray16},
    {"gray16be", stored::kGray16be},
    {"gray32f", stored::kGray32f},
    {"rgb8", stored::kRgb8},
    {"bgr8", stored::kBgr8},
    {"uyvy", stored::kUyvy},
    {"yuyv", stored::kYuyv},
    {"mono10p", stored::kMono10p},
    {"mono12p", stored::kMono12p},
    {"mono14p", stored::kMono14p},
    {"mono10packed", stored::kMono10Packed},
    {"mono12packed", stored::kMono12Packed},
    {"rgb16le", stored::kRgb16},
    {"rgb32f", stored::kRgb32f},
});

std::vector<std::string> raw_format_names() {
    std::vector<std::string> names;
    names.reserve(std::size(kRawPixels));
    for (const auto& [name, pixels] : kRawPixels)
        names.emplace_back(name);
    return names;
}

/// "gray8, gray16le, …".
std::string listed_raw_formats() {
    std::string text;
    for (const std::string& name : raw_format_names())
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

const StoredPixels& pixels_of(const RawOptions& options) {
    return kRawPixels.at(static_cast<std::size_t>(options.format)).second;
}

/// Shape of a stored frame, before a mosaic is binned.
Shape raw_shape(const RawOptions& options) { return pixels_of(options).shape(options.width, options.height); }

std::size_t raw_bytes(const RawOptions& options) {
    return stored_bytes(pixels_of(options), options.width, options.height);
}

/// "width=1392&height=1040&format=gray16le": at most three common sizes that divide the file into whole
/// frames, of the given format if there is one. Empty if none fits.
std::vector<std::string> fitting_sizes(std::uint64_t bytes, const RawOptions& options, bool format_given) {
    using Format = RawOptions::Format;
    std::vector<Format> formats = {Format::gray8, Format::gray16le};
    if (format_given)
        formats = {options.format};
    std::vector<std::string> found;
    for (const auto& [width, height] : usual_raw_sizes())
        for (const Format format : formats) {
            RawOptions tried = options;
            tried.format = format;
            if ((options.width != 0 && options.width != width) ||
                (options.height != 0 && options.height != height))
                continue;
            tried.width = width;
            tried.height = height;
            const std::uint64_t frame = raw_bytes(tried);
            if (found.size() < 3 && bytes >= frame && bytes % frame == 0)
                found.push_back(
                    "width=" + std::to_string(width) + "&height=" + std::to_string(height) +
                    "&format=" + raw_table().at("format").choices[static_cast<std::size_t>(format)]);
        }
    return found;
}

/// Suggested options for a headerless file, by its length.
std::string how_to_write(const std::string& path, const RawOptions& options) {
    std::error_code missing;
    const std::uint64_t size = std::filesystem::file_size(path, missing);
    const auto header = static_cast<std::uint64_t>(options.header);
    const std::uint64_t bytes = missing || size < header ? 0 : size - header;
    std::string text;
    for (const std::string& fits : fitting_sizes(bytes, options, options.format != RawOptions::Format::gray8))
        text += (text.empty() ? "" : ", or ") + ("raw:" + path + "?" + fits);
    if (!text.empty())
        return "its " + std::to_string(bytes) + " bytes are whole frames of " + text;
    return (bytes > 0 ? "its " + std::to_string(bytes) + " bytes fit no usual size; " : std::string()) +
           "write raw:" + path + "?width=W&height=H&format=F (formats: " + listed_raw_formats() + ")";
}

class RawSource final : public Source, public TimedFrames {
public:
    /// `mark`: text before each frame.
    RawSource(std::string path, const Params& params, std::string mark = "")
        : path_(std::move(path)), mark_(std::move(mark)),
          exposures_("source raw", params.as<RawOptions>().exposures) {
        params_ = params;
        const auto& options = params_.as<RawOptions>();
        if (path_.empty())
            throw UsageError("source raw: the file is missing; write raw:FILE?width=W&height=H&format=F.");
        if (options.width == 0 && options.height == 0 && sidecar_.open(path_))
            take_shape(sidecar_.file());
        if (options.width == 0 || options.height == 0)
            throw UsageError("source raw: '" + path_ +
                             "' has no header, so its width and height are needed; " +
                             how_to_write(path_, options) + ".");
        check_shape(raw_shape(options), "source raw: a frame");
        if (bins())
            (void)bayer_shape(raw_shape(options), path_);
    }

    bool may_hold_results() const override { return true; }
    SourceInfo open() override {
        close();
        const auto& options = params_.as<RawOptions>();
        stored_ = shape_ = raw_shape(options);
        if (bins())
            shape_ = bayer_shape(stored_, path_);
        frame_bytes_ = mark_.size() + raw_bytes(options);
        stream_.open(path_);
        const std::uint64_t size = input_size(path_);
        const std::uint64_t wanted = header() + frame_bytes_;
        if (stream_.regular() && size < wanted)
            throw RunError("'" + path_ + "' has " + std::to_string(size) + " bytes, less than one frame of " +
                           to_string(stored_) + " (" + std::to_string(wanted) +
                           " bytes with the header). Check width, height and format.");
        stream_.skip_header(header());
        open_sidecar();
        look_ahead();
        FrameInfo first; // a list that contradicts a recording is refused here
        exposures_.apply(first, sidecar_.file().now(), sidecar_.is_open(), path_, 0);
        SourceInfo info;
        info.name = std::filesystem::path(path_).filename().string();
        info.shape = shape_;
        info.full_scale = full_scale();
        if (stream_.regular()) // for a pipe the writer sets the pace
            info.started = sidecar_.file().now().started;
        info.camera = sidecar_.file().now().camera;
        info.um_per_px = sidecar_.file().now().um_per_px;
        info.quantity = quantity_of(sidecar_.file().now(), shape_);
        const double recorded_rate = sidecar_.measure_rate(path_);
        clock_.starts_at(sidecar_.first_time(path_));
        info.rate = recorded_rate > 0 ? recorded_rate : options.rate;
        const bool recorded = sidecar_.file().ours() && !sidecar_.file().now().untimed;
        info.time_origin = recorded           ? TimeOrigin::source
                           : options.rate > 0 ? TimeOrigin::parameter
                                              : TimeOrigin::none;
        info.seekable = stream_.regular();
        info.length = length();
        info.frames = options.loop ? 0 : info.length;
        return info;
    }

    Status next(FramePort& port) override {
        const auto& options = params_.as<RawOptions>();
        if (ended_)
            return Status::end;
        pacer_.set_speed(options.speed);
        if (!pacer_.wait(pace()))
            return Status::idle;
        if (const double rate = options.speed > 0 ? pace() * options.speed : 0;
            ahead_.empty() && (rate <= 0 || rate >= kFast))
            read_ahead(port);
        Frame frame = ahead_.empty() ? port.acquire(shape_) : std::move(ahead_.front());
        if (!frame)
            return Status::idle;
        std::optional<std::size_t> bytes = frame_bytes_;
        if (ahead_.empty())
            bytes = read_frame(frame.host());
        else
            ahead_.pop_front();
        if (bytes == 0 && options.loop && in_pass_ > 0) {
            rewind(port);
            bytes = read_frame(frame.host());
        }
        if (!bytes)
            return Status::idle;
        if (bytes == 0) {
            ended_ = true;
            return Status::end;
        }
        if (*bytes < frame_bytes_)
            return cut_short(*bytes, port);
        make_frame(frame.host());
        frame.info().position = in_pass_++;
        const Recorded& recorded = sidecar_.next();
        if (sidecar_.is_open())
            invalid_values_.log(path_ + ".jsonl", sidecar_.file().doubts());
        clock_.stamp(frame.info(), recorded, port, pacer_, options.rate, pace());
        if (!stream_.regular()) // a pipe has no place to return to
            frame.info().film_ns.reset();
        exposures_.apply(frame.info(), recorded, sidecar_.is_open(), path_, *frame.info().position);
        frame.info().recorded = recorded.counts_to_keep();
        frame.info().recorded_in_warmup = recorded.in_warmup;
        frame.info().full_scale = full_scale();
        frame.info().assumed =
            sidecar_.is_open() ? recorded.assumed : Assumptions{.full_scale = full_scales_.assumed()};
        frame.info().light = recorded.light.value_or(Light::counts);
        port.submit(std::move(frame));
        return Status::frame;
    }

    void pace(double rate) override {
        if (stream_.regular()) // the writer of a pipe sets the pace
            pace_ = rate;
    }

    std::uint64_t length() override {
        const std::uint64_t size = stream_.size();
        return size < header() ? 0 : (size - header()) / frame_bytes_;
    }

    std::optional<std::uint64_t> frame_at(double seconds) override {
        return sidecar_.frame_at(path_, seconds, length());
    }
    void seek(std::uint64_t frame, std::uint64_t at_once) override {
        if (!stream_.regular())
            return Source::seek(frame, at_once);
        if (const std::uint64_t frames = length(); frame >= frames)
            refuse_frame(path_, frame, frames);
        if (!stream_.seek(header() + frame * frame_bytes_))
            throw RunError("'" + path_ + "' cannot be read at frame " + std::to_string(frame) + ": " +
                           std::strerror(errno) + "."); // NOLINT(concurrency-mt-unsafe)
        ahead_.clear();
        sidecar_.seek(frame);
        clock_.jump();
        pacer_.skip_pacing(at_once);
        in_pass_ = frame;
        ended_ = false;
    }

    void close() override {
        ahead_.clear();
        stream_.close();
        sidecar_.close();
        pacer_.restart();
        clock_.restart();
        invalid_values_ = {};
        mosaics_ = {};
        full_scales_.clear();
        found_full_scale_.reset();
        exposures_.restart();
        in_pass_ = 0;
        ended_ = warned_ = false;
    }

private:
    double pace() const {
        const double rate = params_.as<RawOptions>().rate;
        return rate > 0 ? rate : pace_;
    }

    std::uint64_t header() const { return static_cast<std::uint64_t>(params_.as<RawOptions>().header); }

    double full_scale() const {
        const double given = params_.as<RawOptions>().full_scale;
        const double recorded = sidecar_.file().now().full_scale;
        return given > 0           ? given
               : recorded > 0      ? recorded
               : found_full_scale_ ? *found_full_scale_
                                   : pixels_of(params_.as<RawOptions>()).full_scale;
    }

    bool bins() const { return params_.as<RawOptions>().bayer != Bayer::none; }
    /// Stored frames have the layout of slots.
    bool direct() const {
        return pixels_of(params_.as<RawOptions>()).layout == StoredPixels::Layout::plain && !bins() &&
               mark_.empty() && std::endian::native == std::endian::little;
    }

    std::optional<std::size_t> read_frame(HostView to) {
        if (direct())
            return stream_.read(to);
        bytes_.resize(frame_bytes_);
        return stream_.read(std::span(bytes_));
    }

    static constexpr double kFast = 10000; ///< frames/s

    /// Reads several small frames of a file that is played fast at a time: one thread copies fewer bytes a
    /// second than a chain can process.
    void read_ahead(FramePort& port) {
        constexpr std::size_t kMostBytes = std::size_t{1} << 21, kMostFrames = 32;
        const std::size_t most = std::min(kMostBytes / frame_bytes_, kMostFrames);
        if (!stream_.regular() || !direct() || most < 2)
            return;
        const std::shared_ptr<FrameRing> ring = port.ring(shape_, 0);
        std::vector<Frame> frames =
            ring ? ring->try_acquire(static_cast<int>(most), kMinSlots) : std::vector<Frame>();
        if (frames.empty())
            return;
        std::vector<HostView> views(frames.size());
        std::transform(frames.begin(), frames.end(), views.begin(),
                       [](const Frame& frame) { return frame.host(); });
        frames.resize(stream_.read_together(views));
        ahead_.assign(std::move_iterator(frames.begin()), std::move_iterator(frames.end()));
    }

    std::span<const std::byte> after_mark() const {
        if (!std::equal(mark_.begin(), mark_.end(), bytes_.begin(),
                        [](char c, std::byte b) { return b == static_cast<std::byte>(c); }))
            throw RunError("'" + path_ + "' is damaged after frame " + std::to_string(in_pass_) +
                           ". The frames before it were processed.");
        return std::span(bytes_).subspan(mark_.size());
    }

    /// Converts what read_frame() has read.
    void make_frame(HostView to) {
        HostView grey = to;
        if (bins()) {
            mosaic_.resize(stored_.bytes());
            grey = HostView(mosaic_.data(), stored_);
        }
        if (!direct())
            unpack_frame(pixels_of(params_.as<RawOptions>()), after_mark(), 0, grey);
        look_at(grey);
        if (bins())
            bin_bayer(params_.as<RawOptions>().bayer, grey, to, full_scale());
    }

    /// Estimates the full scale from samples without a recorded one, and detects a mosaic.
    void look_at(ConstHostView frame) {
        if (sidecar_.is_open())
            return;
        if (!(params_.as<RawOptions>().full_scale > 0))
            found_full_scale_ =
                full_scales_.find(path_, frame, {.value = pixels_of(params_.as<RawOptions>()).full_scale});
        if (!bins())
            mosaics_.look(path_, frame);
    }

    /// Examines the first frames, so that open() returns the full scale of the frames.
    void look_ahead() {
        constexpr int kFrames = 4;
        constexpr std::size_t kMostBytes = std::size_t{64} << 20; // per frame
        if (!stream_.regular() || stored_.type == PixelType::u8 || stored_.bytes() > kMostBytes)
            return;
        const std::uint64_t begin = header();
        std::vector<std::byte> pixels(stored_.bytes());
        const HostView frame(pixels.data(), stored_);
        for (int i = 0; i < kFrames; ++i) {
            bytes_.resize(frame_bytes_);
            if (stream_.read(std::span(bytes_)) != frame_bytes_)
                break;
            unpack_frame(pixels_of(params_.as<RawOptions>()), after_mark(), 0, frame);
            look_at(frame);
        }
        if (!stream_.seek(begin))
            throw RunError("'" + path_ + "' cannot be read from its beginning.");
    }

    /// Uses the recorded width, height and format, unless they were given.
    void take_shape(const RecordedText& file) {
        if (file.width() == 0 || file.height() == 0 || file.format().empty())
            return;
        params_.set("width", std::int64_t{file.width()});
        params_.set("height", std::int64_t{file.height()});
        params_.set_text("format", file.format());
    }

    /// Ignores it if the requested frame size differs.
    void open_sidecar() {
        if (!sidecar_.open(path_))
            return;
        const RecordedText& file = sidecar_.file();
        if (file.width() != shape_.width || file.height() != shape_.height ||
            file.format() != to_string(params_.get("format")))
            sidecar_.close();
        invalid_values_.log(path_ + ".jsonl", sidecar_.file().doubts());
    }

    /// A new round does not follow the last frame, except for a single repeated image.
    void rewind(FramePort& port) {
        if (!stream_.seek(0))
            throw RunError("'" + path_ + "' cannot be read again from its beginning. Leave loop out.");
        if (in_pass_ > 1)
            port.discontinuity();
        in_pass_ = 0;
        stream_.skip_header(header());
        if (sidecar_.is_open())
            sidecar_.open(path_);
        clock_.next_file();
    }

    Status cut_short(std::size_t bytes, FramePort& port) {
        const std::string text = "'" + path_ + "' is cut short: its last frame has " + std::to_string(bytes) +
                                 " of " + std::to_string(frame_bytes_) + " bytes; the " +
                                 std::to_string(in_pass_) + " whole frames before it count.";
        if (!params_.as<RawOptions>().loop || in_pass_ == 0) { // another round would be empty too
            ended_ = true;
            throw RunError(text);
        }
        if (!warned_)
            run_log().warn("{}", text);
        warned_ = true;
        rewind(port);
        return Status::idle;
    }

    std::string path_, mark_;
    Shape shape_;
    Shape stored_;                ///< of a stored frame, before a mosaic is binned
    std::size_t frame_bytes_ = 0; ///< in the file
    std::vector<std::byte> bytes_, mosaic_;
    FileExposures exposures_;
    FullScaleFinder full_scales_;
    std::optional<double> found_full_scale_; ///< of the last frame, from full_scales_
    MosaicFinder mosaics_;
    RawStream stream_;
    std::deque<Frame> ahead_; ///< read, not yet delivered
    RawSidecar sidecar_;      ///< open if it exists
    double pace_ = 0;         ///< for frames without a rate
    Pacer pacer_;
    PlaybackClock clock_;
    InvalidValueLog invalid_values_;
    std::uint64_t in_pass_ = 0; ///< frames since the start of the file
    bool ended_ = false;
    bool warned_ = false;
};

const ParamTable& raw_table() {
    static const ParamTable table =
        Declare<RawOptions>("source raw")
            .integer("width", &RawOptions::width,
                     {.unit = "px",
                      .min = 0,
                      .max = kMaxSide,
                      .cost = Cost::rebuild,
                      .doc = "Pixels per row. Required without FILE.jsonl"})
            .integer("height", &RawOptions::height,
                     {.unit = "px",
                      .min = 0,
                      .max = kMaxSide,
                      .cost = Cost::rebuild,
                      .doc = "Rows per frame. Required without FILE.jsonl"})
            .choice(
                "format", &RawOptions::format,
                choice_names(raw_format_names(),
                             {"Grey, 8 bit", "Grey, 16 bit", "Grey, 16 bit, big-endian", "Grey, 32 bit float",
                              "RGB, 8 bit", "BGR, 8 bit", "UYVY", "YUYV", "Mono10p", "Mono12p", "Mono14p",
                              "Mono10Packed", "Mono12Packed", "RGB, 16 bit", "RGB, 32 bit float"}),
                {.label = "Pixel format",
                 .cost = Cost::rebuild,
                 .doc =
                     "Pixel format. Floats are little-endian. mono10p, mono12p, mono14p: packed as in "
                     "GenICam. mono10packed, mono12packed: as in GigE Vision. uyvy, yuyv: only grey is read"})
            .integer("header", &RawOptions::header,
                     {.unit = "bytes",
                      .min = 0,
                      .max = kMaxHeader,
                      .cost = Cost::rebuild,
                      .doc = "Bytes to skip before the first frame"})
            .real("rate", &RawOptions::rate,
                  {.unit = "1/s",
                   .min = 0,
                   .max = kMaxRate,
                   .least = kMinRate,
                   .doc =
                       "Frames per second. 0: as fast as possible, with the recorded times if there are any"})
            .real("speed", &RawOptions::speed,
                  {.min = 0, .max = kMaxSpeed, .least = kMinSpeed, .doc = kSpeedDoc})
            .boolean("loop", &RawOptions::loop, {.doc = "Restart at the end"})
            .real("full_scale", &RawOptions::full_scale,
                  {.min = 0,
                   .max = 1e9,
                   .doc = "Largest possible value (4095 for 12 bits). 0: the format's, unless samples pile "
                          "up below it"})
            .choice("bayer", &RawOptions::bayer, bayer_names(),
                    {.label = "Bayer pattern", .cost = Cost::rebuild, .doc = kBayerDoc})
            .text("exposures", &RawOptions::exposures,
                  {.label = "Exposure cycle", .unit = "ms", .cost = Cost::rebuild, .doc = kExposureCycleDoc})
            .table();
    return table;
}

} // namespace

std::unique_ptr<Source> grey_y4m(const std::string& path, double rate, double speed, bool loop,
                                 const std::string& exposures) {
    std::error_code missing;
    if (!std::filesystem::is_regular_file(path, missing)) // reading from a pipe would consume its bytes
        return nullptr;
    std::ifstream file(path, std::ios::binary);
    std::string line(1024, '\0'); // longer header lines are not read
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(std::min(line.find('\n'), static_cast<std::size_t>(file.gcount())));
    std::istringstream words(line);
    std::string word, colour;
    words >> word;
    if (word != "YUV4MPEG2")
        return nullptr;
    Params params(raw_table());
    params.set("header", static_cast<std::int64_t>(line.size() + 1));
    bool interlaced = false;
    while (words >> word)
        if (word[0] == 'I')
            interlaced = word != "Ip" && word != "I?";
        else if (word[0] == 'W' || word[0] == 'H')
            params.set_text(word[0] == 'W' ? "width" : "height", word.substr(1));
        else if (word[0] == 'C')
            colour = word.substr(1);
        else if (int num = 0, den = 0;
                 word[0] == 'F' && rate <= 0 && // NOLINTNEXTLINE: what is no number is 0
                 std::sscanf(word.c_str(), "F%9d:%9d", &num, &den) == 2 && num > 0 && den > 0) {
            rate = static_cast<double>(num) / den;
            speed = 0;
        }
    constexpr std::array<std::string_view, 6> kGrey = {"mono",   "mono9",  "mono10",
                                                       "mono12", "mono14", "mono16"};
    // y4mdec takes C420p10 for C420.
    if (colour.find("p1") != std::string::npos || colour.find("p9") != std::string::npos)
        throw RunError("'" + path + "' has colour of more than 8 bits (C" + colour +
                       "), which is not read. Convert it, as by ffmpeg -i FILE -c:v ffv1 NEW.mkv.");
    if (interlaced || std::find(kGrey.begin(), kGrey.end(), colour) == kGrey.end())
        return nullptr; // y4mdec does not read other kinds of grey
    if (colour != "mono") {
        int bits = 0;
        std::from_chars(colour.data() + std::strlen("mono"), colour.data() + colour.size(), bits);
        params.set_text("format", "gray16le");
        params.set("full_scale", static_cast<double>((1 << bits) - 1));
    }
    params.set("rate", rate);
    params.set("speed", speed);
    params.set("loop", loop);
    params.set("exposures", exposures);
    return std::make_unique<RawSource>(path, params, "FRAME\n");
}

std::span<const std::pair<int, int>> usual_raw_sizes() {
    static constexpr std::array<std::pair<int, int>, 35> kSizes = {
        {{5120, 5120}, {4096, 3000}, {4096, 2160}, {3840, 2160}, {2592, 2048}, {2592, 1944}, {2448, 2048},
         {2304, 2304}, {2048, 2048}, {2048, 1536}, {2048, 1088}, {1936, 1216}, {1920, 1200}, {1920, 1080},
         {1600, 1200}, {1456, 1088}, {1440, 1080}, {1392, 1040}, {1388, 1038}, {1280, 1024}, {1280, 960},
         {1280, 720},  {1024, 1024}, {1024, 768},  {1000, 1000}, {800, 600},   {752, 480},   {720, 540},
         {696, 520},   {656, 488},   {640, 512},   {640, 480},   {512, 512},   {320, 240},   {256, 256}}};
    return kSizes;
}

const std::vector<std::string>& raw_formats() { return raw_table().at("format").choices; }

std::uint64_t raw_frame_bytes(int width, int height, const std::string& format) {
    const std::vector<std::string>& formats = raw_formats();
    const auto at = std::find(formats.begin(), formats.end(), format);
    if (at == formats.end())
        return 0;
    RawOptions options;
    options.width = width;
    options.height = height;
    options.format = static_cast<RawOptions::Format>(at - formats.begin());
    return raw_bytes(options);
}

SourceType raw_source_type() {
    return {.kind = "raw",
            .syntax = "raw:FILE?width=W&height=H&format=F",
            .doc = "Headerless frames: 8 to 16-bit grey, packed or not, float, colour",
            .table = &raw_table(),
            .make = [](const SourceText& text, const Params& params) -> std::unique_ptr<Source> {
                return std::make_unique<RawSource>(text.target, params);
            },
            .discover = nullptr};
}

} // namespace specklescope
