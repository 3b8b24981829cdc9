#include "sources/files/image_source.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "sources/registry.hpp"

#include "files/film_file.hpp"
#include "files/image_file.hpp"
#include "pipeline/source.hpp"
#include "sources/exposures.hpp"
#include "sources/files/image_sequence.hpp"
#include "sources/full_scale.hpp"
#include "sources/pacer.hpp"
#include "sources/playback_clock.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

namespace specklescope {

namespace {

/// Number of files opened at the start to count their frames; more within the time limit (17 000 per second
/// if cached).
constexpr std::size_t kCounted = 1000;
constexpr std::chrono::milliseconds kCounting{1000};

/// Messages about the files, each logged once.
class ImageLog {
public:
    /// A new page of file `name`, in this coding.
    void page(const std::string& name, const ImageReader& reader) {
        invalid_values_.log(name, reader.doubts());
        if (const std::string& remark = reader.remark(); std::exchange(stack_, remark) != remark)
            run_log().info("{}", remark);
    }
    void coding(const std::string& name, const Coding& coding) {
        const std::string text = to_string(coding);
        if (std::exchange(coding_, text) == text)
            return;
        const bool counted = coding.light == Light::counts; // usual for recordings of cameras: not logged
        if (!coding.transfer.linear())
            run_log().info("'{}' is coded in {}: decoded to linear light, 0…1.{}", name, text,
                           coding.by.empty() ? " Use --transfer linear to keep the values." : "");
        else
            run_log().log(
                counted ? spdlog::level::debug : spdlog::level::info, "'{}' is taken as {}.{}", name, text,
                coding.by.empty() && counted ? " Use --transfer srgb for an image made for a display." : "");
    }
    void samples(const std::string& name, const ImageReader& reader) {
        for (const std::string& remark : reader.remarks())
            if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) {
                remarks_.push_back(remark);
                run_log().info("'{}' {}.", name, remark);
            }
    }

private:
    std::string coding_;
    std::string stack_; ///< selection of a stack
    std::vector<std::string> remarks_;
    InvalidValueLog invalid_values_;
};

class ImageSource final : public Source, public TimedFrames {
public:
    ImageSource(std::string path, const Params& params)
        : path_(std::move(path)), exposures_("source image", params.as<ImageOptions>().exposures) {
        params_ = params;
        asked_ = parse_transfer(options().transfer);
        listed_ = list_images(path_); // report missing files early
    }

    bool may_hold_results() const override { return true; }
    SourceInfo open() override {
        close();
        files_ = listed_.empty() ? list_images(path_) : std::exchange(listed_, {});
        read_names();
        if (!advance())
            throw RunError(last_error_.empty() ? "'" + path_ + "' has no image." : last_error_);
        look_ahead();
        FrameInfo first{.position = 0}; // a list that contradicts a recording is refused here
        set_exposure(first);
        SourceInfo info;
        const std::filesystem::path path(path_);
        info.name = (path.has_filename() ? path : path.parent_path()).filename().string();
        info.shape = shape_;
        info.full_scale = full_scale();
        info.lossy = reader_->lossy();
        info.coding = to_string(coding_);
        info.stored_full_scale = decodes() ? code_full_scale() : 0;
        info.started = reader_->recorded().started;
        info.camera = reader_->recorded().camera;
        clock_.starts_at(recorded().capture_ns);
        take_scale(info);
        info.quantity = quantity_of(reader_->recorded(), shape_);
        info.rate = rate();
        info.time_origin = recorded().capture_ns ? TimeOrigin::source
                           : options().rate > 0  ? TimeOrigin::parameter
                                                 : TimeOrigin::none;
        index_.count_ahead(files_, wanted(), kCounted, kCounting);
        info.seekable = true;
        info.length = length();
        info.frames = options().loop || index_.broken() ? 0 : info.length;
        return info;
    }

    Status next(FramePort& port) override {
        if (at_.ended)
            return Status::end;
        pacer_.set_speed(options().speed);
        if (!pacer_.wait(pace()))
            return Status::idle;
        try {
            return deliver(port);
        } catch (...) {
            at_.ended = true; // reported once
            throw;
        }
    }

    std::uint64_t length() override {
        return index_.all_of(files_) ? std::max(index_.frames(), at_.position) : at_.ended_at;
    }

    std::optional<std::uint64_t> frame_at(double seconds) override {
        if (options().frame_height > 0)
            return std::nullopt;
        TimeSearch search(seconds);
        for (const std::string& file : files_) {
            std::unique_ptr<ImageReader> ahead;
            try {
                ahead = open_image(file, wanted().choice);
            } catch (const RunError&) { // skipped: reported when it is read
                continue;
            }
            try {
                while (ahead->next_page()) {
                    work_goes_on("looking for a time in '" + file + "'");
                    if (!search.add(stated(ahead->recorded()).capture_ns))
                        return search.frame();
                }
            } catch (const RunError&) { // the same for its rest
                if (files_.size() == 1)
                    throw;
            }
        }
        return search.frame();
    }

    void seek(std::uint64_t frame, std::uint64_t at_once) override {
        const ImagePlace place = find(frame);
        std::optional<Shape> page;
        if (reader_ && file_ == place.file + 1 && place.row == 0)
            page = reader_->seek_page(place.page);
        if (!page) {
            reader_ = open_image(files_[place.file], wanted().choice);
            page = reader_->seek_page(place.page);
        }
        if (!page)
            throw RunError("'" + files_[place.file] + "' has no page " + std::to_string(place.page + 1) +
                           " any more.");
        file_ = place.file + 1;
        try {
            begin_page(*page);
        } catch (const UsageError& error) { // the frame exists, and no run could continue after it
            throw RunError(error.what());
        }
        if (place.row > 0)
            skip_rows(place.row);
        clock_.jump();
        pacer_.skip_pacing(at_once);
        at_.position = frame;
        at_.in_file = frame - index_.frames_before(place.file);
        at_.ended = at_.new_round = false;
    }

    void pace(double rate) override { pace_ = rate; }

    void close() override {
        reader_.reset();
        index_ = {};
        files_.clear();
        file_ = 0;
        rows_left_ = 0;
        at_ = {};
        log_ = {};
        mosaics_ = {};
        pacer_.restart();
        clock_.restart();
        last_error_.clear();
        full_scales_.clear();
        found_full_scale_.reset();
        exposures_.restart();
    }

private:
    const ImageOptions& options() const { return params_.as<ImageOptions>(); }

    FramesWanted wanted() const {
        return {.rows = options().frame_height,
                .choice = {options().channel, options().slice, options().path, options().axes}};
    }

    double pace() const { return options().rate > 0 ? options().rate : pace_; }

    void take_scale(SourceInfo& info) const {
        const FileScale scale = reader_->scale();
        info.um_per_px = scale.um_per_px;
        if (!scale.by.empty())
            run_log().info("Pixel size of '{}': {:.9g} µm, from {}.", files_[file_ - 1], scale.um_per_px,
                           scale.by);
        if (!scale.refused.empty())
            run_log().info("'{}': {}.", files_[file_ - 1], scale.refused);
    }

    /// Full scale of the frames; 1 if they are decoded.
    double full_scale() const { return decodes() ? 1 : code_full_scale(); }

    double code_full_scale() const {
        if (options().full_scale > 0)
            return options().full_scale;
        if (const double recorded = reader_ ? reader_->recorded().full_scale : 0; recorded > 0)
            return recorded;
        if (found_full_scale_)
            return *found_full_scale_;
        const double stated = reader_ ? reader_->full_scale().value : 0;
        return stated > 0 ? stated : type_full_scale(page_type_);
    }

    /// Estimates the full scale from a page's samples, unless it is known or they are decoded.
    void find_full_scale(const ImageReader& reader, ConstHostView page) {
        if (options().full_scale > 0 || reader.recorded().full_scale > 0 || coding_.recorded || decodes())
            return;
        found_full_scale_ = full_scales_.find(files_[file_ - 1], page, reader.full_scale());
    }

    /// Examines the first pages, so that open() returns the full scale of the frames.
    void look_ahead() {
        constexpr int kPages = 4;
        constexpr std::size_t kMostBytes = std::size_t{64} << 20; // per page
        if (page_type_ == PixelType::u8)
            return;
        try {
            const std::unique_ptr<ImageReader> ahead = open_image(files_.front(), wanted().choice);
            for (int i = 0; i < kPages; ++i) {
                const std::optional<Shape> page = ahead->next_page();
                if (!page || page->bytes() > kMostBytes)
                    return;
                std::vector<std::byte> samples(page->bytes());
                ahead->read_rows(HostView(samples.data(), *page));
                find_full_scale(*ahead, HostView(samples.data(), *page));
            }
        } catch (const RunError&) { // NOLINT(bugprone-empty-catch): reported when it is read
        }
    }

    bool decodes() const { return !coding_.transfer.linear(); }

    /// Recorded metadata of the next frame; nothing if a page is cut into several.
    Recorded recorded() const {
        return reader_ && options().frame_height == 0 ? stated(reader_->recorded()) : Recorded{};
    }

    /// A rate set by the user overrides times of other programs.
    Recorded stated(Recorded recorded) const {
        if (recorded.foreign && options().rate > 0)
            recorded.capture_ns.reset();
        return recorded;
    }

    /// The recording's own rate, independent of the playback rate.
    double rate() const {
        constexpr std::size_t kLooked = 33; // pages whose descriptions are read
        const Recorded first = recorded();
        if (first.rate > 0 || !first.capture_ns)
            return first.rate > 0 ? first.rate : options().rate;
        std::vector<std::int64_t> times;
        try {
            const std::unique_ptr<ImageReader> ahead = open_image(files_.front(), wanted().choice);
            while (times.size() < kLooked && ahead->next_page() && ahead->recorded().capture_ns)
                times.push_back(*ahead->recorded().capture_ns);
        } catch (const RunError&) { // NOLINT(bugprone-empty-catch): reported when it is read
        }
        const double measured = rate_of(times);
        return measured > 0 ? measured : options().rate;
    }

    Status deliver(FramePort& port) {
        for (;;) {
            if (rows_left_ == 0 && !advance()) {
                if (!at_.any && !last_error_.empty())
                    throw RunError(last_error_);
                report_skipped(port);
                at_.ended = true;
                return Status::end;
            }
            Frame frame = port.acquire(shape_);
            if (!frame)
                return Status::idle;
            try {
                read(frame.host());
            } catch (const RunError& error) {
                skip_file(error);
                continue;
            }
            at_.any = true;
            if (std::exchange(at_.new_round, false))
                port.discontinuity();
            report_skipped(port);
            rows_left_ -= stored_.height;
            ++at_.in_file;
            frame.info().position = at_.position++;
            clock_.stamp(frame.info(), recorded(), port, pacer_, options().rate, pace());
            frame.info().full_scale = full_scale();
            frame.info().light = coding_.light;
            frame.info().assumed = reader_->recorded().assumed;
            frame.info().assumed.full_scale |= full_scales_.assumed();
            frame.info().assumed.coding |= coding_.light == Light::decoded && coding_.by.empty();
            set_exposure(frame.info());
            frame.info().recorded = recorded().counts_to_keep();
            frame.info().recorded_in_warmup = recorded().in_warmup;
            port.submit(std::move(frame));
            return Status::frame;
        }
    }

    /// Logged, since the names were perhaps not meant so.
    void read_names() {
        named_ = exposures_of_names(files_);
        if (exposures_.given())
            return;
        if (!named_.refused.empty())
            run_log().info("'{}': {}", path_, named_.refused);
        if (!named_.ms.empty())
            run_log().info(
                "'{}': exposures are taken from the file names ({:.9g} to {:.9g} ms) where the files "
                "state none.",
                path_, *std::min_element(named_.ms.begin(), named_.ms.end()),
                *std::max_element(named_.ms.begin(), named_.ms.end()));
    }

    void set_exposure(FrameInfo& info) {
        const double named =
            named_.ms.empty() ? std::numeric_limits<double>::quiet_NaN() : named_.ms[file_ - 1];
        exposures_.apply(info, reader_->recorded(), coding_.recorded && !reader_->recorded().foreign,
                         files_[file_ - 1], *info.position, named);
    }

    /// Skips the rest of an unreadable file, and counts its frames as lost: as many as the index counted, or
    /// one if the file cannot be opened. Rethrows if it is the only file. Call it in an exception handler.
    void skip_file(const RunError& error) {
        if (files_.size() == 1)
            throw;
        if (at_.ended_at == 0)
            run_log().warn("{} {} skipped; other files are read.", error.what(),
                           at_.in_file == 0 ? "The file is" : "The rest of the file is");
        const std::uint64_t all = index_.frames_of(files_, wanted(), file_ - 1);
        const std::uint64_t rest = std::max(all, at_.in_file) - at_.in_file;
        at_.skipped += std::max<std::uint64_t>(rest, 1);
        at_.position += rest;
        last_error_ = error.what();
        reader_.reset();
        rows_left_ = 0;
    }

    /// Each unreadable file counts as one frame.
    void report_skipped(FramePort& port) {
        for (; at_.skipped > 0; --at_.skipped) {
            port.lost(1, "in files that cannot be read");
            pacer_.take(options().rate, pace());
        }
    }

    /// Reads code values, decodes them to light if needed, and bins a mosaic.
    void read(HostView to) {
        HostView light = to;
        if (bins()) {
            Shape mosaic = stored_;
            mosaic.type = shape_.type;
            mosaic_.resize(mosaic.bytes());
            light = HostView(mosaic_.data(), mosaic);
        }
        if (decodes()) {
            codes_.resize(stored_.bytes());
            const HostView coded(codes_.data(), stored_);
            reader_->read_rows(coded);
            decoder_.run(coded, light);
        } else {
            reader_->read_rows(light);
            find_full_scale(*reader_, light);
        }
        log_.samples(files_[file_ - 1], *reader_);
        if (bins())
            bin_bayer(options().bayer, light, to, full_scale());
        else if (coding_.light == Light::counts && !coding_.recorded)
            mosaics_.look(files_[file_ - 1], light);
    }

    bool bins() const { return options().bayer != Bayer::none; }

    /// Determines the coding of the page; logged when it changes.
    void read_coding(const std::string& name) {
        coding_ = reader_->coding();
        if (asked_ && coding_.recorded && !asked_->linear())
            throw UsageError("source image: '" + name +
                             "' is a recording with linear values. Remove transfer = " + options().transfer +
                             ". Leave it out.");
        if (asked_ && !coding_.recorded)
            coding_ = {.transfer = *asked_,
                       .light = asked_->linear() ? Light::counts : Light::decoded,
                       .by = "as asked"};
        if (decodes())
            decoder_ = Decoder(coding_.transfer, page_type_, code_full_scale());
        log_.coding(name, coding_);
    }

    /// Moves to the next page, file or round; false at the end.
    bool advance() {
        for (;;) {
            if (reader_) {
                try {
                    if (const auto page = reader_->next_page()) {
                        begin_page(*page);
                        return true;
                    }
                    reader_.reset();
                } catch (const RunError& error) {
                    skip_file(error);
                }
            }
            if (file_ == files_.size()) {
                at_.ended_at = at_.position;
                if (!options().loop || !at_.any)
                    return false;
                file_ = 0;
                // A single repeated image is a still scene: windows continue.
                at_.new_round = std::exchange(at_.position, 0) > 1;
            }
            clock_.next_file();
            at_.in_file = 0;
            try {
                reader_ = open_image(files_[file_++], wanted().choice);
            } catch (const RunError& error) {
                skip_file(error);
            }
        }
    }

    void begin_page(const Shape& page) {
        const std::string& name = files_[file_ - 1];
        shape_ = page;
        page_type_ = page.type;
        found_full_scale_.reset();
        log_.page(name, *reader_);
        read_coding(name);
        if (decodes())
            shape_.type = PixelType::f32;
        const int rows = options().frame_height;
        if (rows > 0) {
            if (page.height % rows != 0)
                throw UsageError("source image: frame_height = " + std::to_string(rows) +
                                 " does not divide the " + std::to_string(page.height) + " rows of '" + name +
                                 "'; allowed: a divisor of it.");
            shape_.height = rows;
        }
        check_shape(shape_, "'" + name + "'");
        rows_left_ = page.height;
        stored_ = shape_;
        stored_.type = page.type;
        if (bins())
            shape_ = bayer_shape(shape_, name);
    }

    /// Position in the current files, if the frame was not found before.
    ImagePlace find(std::uint64_t frame) {
        index_.count(files_, wanted(), frame);
        if (frame >= index_.frames()) {
            std::vector<std::string> listed = list_images(path_);
            const std::string present = file_ > 0 ? files_[file_ - 1] : "";
            index_.look_again(files_, listed);
            files_ = std::move(listed);
            named_ = exposures_of_names(files_);
            const auto at = std::find(files_.begin(), files_.end(), present);
            file_ = at == files_.end() ? std::min(file_, files_.size())
                                       : static_cast<std::size_t>(at - files_.begin()) + 1;
            index_.count(files_, wanted(), frame);
        }
        if (frame >= index_.frames())
            refuse_frame(path_, frame, index_.frames());
        return index_.place(files_, wanted(), frame);
    }

    void skip_rows(int rows) {
        Shape skipped = stored_;
        skipped.height = rows;
        std::vector<std::byte> unwanted(skipped.bytes());
        reader_->read_rows(HostView(unwanted.data(), skipped));
        rows_left_ -= rows;
    }

    std::string path_;
    std::vector<std::string> listed_; ///< from the constructor, for the first open()
    std::vector<std::string> files_;
    std::size_t file_ = 0; ///< the file after the one being read
    std::unique_ptr<ImageReader> reader_;
    Shape shape_;                         ///< of the next frame
    Shape stored_;                        ///< of the same frame in the file
    PixelType page_type_ = PixelType::u8; ///< of the values in the file
    std::optional<Transfer> asked_;       ///< nothing: according to the file
    Coding coding_;                       ///< of the current page
    FileExposures exposures_;
    NamedExposures named_;
    FullScaleFinder full_scales_;
    std::optional<double> found_full_scale_; ///< of the last frame, from full_scales_
    Decoder decoder_;
    MosaicFinder mosaics_;
    std::vector<std::byte> codes_, mosaic_; ///< rows before decoding, and before binning
    int rows_left_ = 0;                     ///< of the current page
    struct Progress {
        std::uint64_t position = 0; ///< of the next frame
        std::uint64_t in_file = 0;  ///< frames of the current file so far
        std::uint64_t skipped = 0;  ///< unreadable files since the last frame
        std::uint64_t ended_at = 0; ///< number of frames at the last end
        bool any = false;           ///< at least one page was read: prevents endless empty rounds
        bool ended = false;
        bool new_round = false;
    };
    Progress at_;
    std::string last_error_; ///< error of the newest unreadable file
    ImageLog log_;
    ImageIndex index_;
    double pace_ = 0; ///< for frames without a rate
    Pacer pacer_;
    PlaybackClock clock_;
};

const ParamTable& image_table() {
    static const ParamTable table =
        Declare<ImageOptions>("source image")
            .real("rate", &ImageOptions::rate,
                  {.unit = "1/s",
                   .min = 0,
                   .max = kMaxRate,
                   .least = kMinRate,
                   .doc = "Frames per second; overrides times that other programs stated. 0: as fast as "
                          "possible, with the file's times"})
            .real("speed", &ImageOptions::speed,
                  {.min = 0, .max = kMaxSpeed, .least = kMinSpeed, .doc = kSpeedDoc})
            .boolean("loop", &ImageOptions::loop, {.doc = "Restart at the end; a single image is repeated"})
            .integer("frame_height", &ImageOptions::frame_height,
                     {.unit = "rows",
                      .min = 0,
                      .max = kMaxSide,
                      .cost = Cost::rebuild,
                      .doc = "Height of the frames stacked in an image. 0: the whole image is a frame"})
            .choice("bayer", &ImageOptions::bayer, bayer_names(),
                    {.label = "Bayer pattern", .cost = Cost::rebuild, .doc = kBayerDoc})
            .integer("channel", &ImageOptions::channel,
                     {.min = 0,
                      .max = 1 << 24,
                      .cost = Cost::rebuild,
                      .doc = "Channel of a TIFF with several, from 1. 0: the first, or all as frames if "
                             "there are more than 7 and no other axis"})
            .integer("slice", &ImageOptions::slice,
                     {.min = 0,
                      .max = 1 << 24,
                      .cost = Cost::rebuild,
                      .doc = "Slice of a TIFF with several, from 1. 0: the first, or all as frames if there "
                             "is only one time"})
            .text("path", &ImageOptions::path,
                  {.label = "Array",
                   .cost = Cost::rebuild,
                   .doc = "Array of an HDF5, MATLAB or NPZ file with several: /group/raw"})
            .text("axes", &ImageOptions::axes,
                  {.label = "Order of axes",
                   .cost = Cost::rebuild,
                   .doc = "Order of an array's axes in an HDF5, MATLAB or NumPy file, as h5py and NumPy show "
                          "them: thw (time, height, width), hwt, twh, hwc (colours) ... Empty: thw, unless "
                          "the sides suggest that time is last; MATLAB: twh"})
            .text("transfer", &ImageOptions::transfer,
                  {.label = "Coding",
                   .cost = Cost::rebuild,
                   .doc = "Coding of the values, which are decoded to linear light: auto (as the file says; "
                          "JPEG and 8-bit colour PNG: sRGB), linear (unchanged), srgb, gamma:G"})
            .real("full_scale", &ImageOptions::full_scale,
                  {.min = 0,
                   .max = 1e9,
                   .doc = "Largest possible value (4095 for 12 bits). 0: as the file or type says, unless "
                          "samples pile up below it"})
            .text("exposures", &ImageOptions::exposures,
                  {.label = "Exposure cycle", .unit = "ms", .cost = Cost::rebuild, .doc = kExposureCycleDoc})
            .table();
    return table;
}

} // namespace

SourceType image_source_type() {
    static const std::string doc =
        "PNG, JPEG, TIFF (multi-page TIFFs play), Radiance, OpenEXR, NumPy arrays, films of other "
        "programs: " +
        film_names() + ", arrays of HDF5, MATLAB and NPZ files, the images of a folder, a numbered sequence";
    return {.kind = "image",
            .syntax = "FILE.png|jpg|tif|hdr|exr|npy, h5:FILE?path=ARRAY, FOLDER/, name_%04d.tif",
            .doc = doc,
            .table = &image_table(),
            .make = [](const SourceText& text, const Params& params) -> std::unique_ptr<Source> {
                return std::make_unique<ImageSource>(text.target, params);
            },
            .discover = nullptr,
            .alias = "h5"};
}

} // namespace specklescope
