#include "files/tiff_stack.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "files/description_text.hpp"
#include "files/json_object.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

namespace specklescope {

namespace {

using std::string_view;

constexpr std::uint64_t kMostImages = std::uint64_t{1} << 24;
/// More channels than ImageJ shows as colours: programs that write a list of images without naming its axis
/// use channels.
constexpr std::uint64_t kMostColors = 7;

std::uint64_t claimed(std::optional<string_view> text, std::uint64_t otherwise) {
    const double value = text ? number_of(text->substr(0, text->find_last_not_of(" \r") + 1)) : 0;
    return value >= 1 && value <= static_cast<double>(kMostImages) ? static_cast<std::uint64_t>(value)
                                                                   : otherwise;
}

/// 0: not a known unit of time.
double seconds_in(string_view unit) {
    constexpr std::array<std::pair<string_view, double>, 16> kUnits = {{{"s", 1},
                                                                        {"sec", 1},
                                                                        {"secs", 1},
                                                                        {"second", 1},
                                                                        {"seconds", 1},
                                                                        {"ms", 1e-3},
                                                                        {"msec", 1e-3},
                                                                        {"us", 1e-6},
                                                                        {"usec", 1e-6},
                                                                        {"ns", 1e-9},
                                                                        {"min", 60},
                                                                        {"minute", 60},
                                                                        {"h", 3600},
                                                                        {"hour", 3600},
                                                                        {"d", 86400},
                                                                        {"", 1}}};
    const std::string plain = plain_unit(unit);
    for (const auto& [name, seconds] : kUnits)
        if (name == plain)
            return seconds;
    return 0;
}

/// "0.04", "40 ms".
double seconds_of(string_view text, string_view unit) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::size_t end = std::min(text.find_first_not_of("0123456789.+-eE"), text.size());
    const string_view own = text.substr(end);
    const bool bare = own.find_first_not_of(" \r") == string_view::npos;
    const double seconds = number_of(text.substr(0, end)) * seconds_in(bare ? unit : own);
    return std::isfinite(seconds) ? seconds : 0;
}

template <class Take> void each_element(string_view xml, string_view name, const Take& take) {
    for (auto found = xml_element(xml, name); found; found = xml_element(found->rest, name))
        take(*found);
}

/// 0 unless it is a non-negative number.
std::uint64_t whole_number(const XmlElement& element, string_view name) {
    return static_cast<std::uint64_t>(
        std::clamp(number_of(xml_attribute(element.tag, name).value_or("0")), 0.0, 1e9));
}

bool color_at_the_end(const std::vector<std::uint64_t>& sides) {
    return sides.size() > 2 && (sides.back() == 3 || sides.back() == 4);
}

constexpr double kNotStated = std::numeric_limits<double>::infinity();
constexpr double kLongestTime = 4e9; ///< s; less than kTooLate in ns

/// An exposure above 0 and up to an hour; programs write 0 for unknown.
std::optional<double> believable_ms(double ms) {
    return ms > 0 && ms <= 3.6e6 ? std::optional(ms) : std::nullopt;
}

} // namespace

TiffStack::TiffStack(string_view description, std::uint64_t size, int samples) {
    if (is_ome_xml(description))
        read_ome(description, samples);
    else if (description.starts_with("ImageJ="))
        read_imagej(description);
    else if (description.find("\"shape\"") != string_view::npos)
        read_tifffile(description);
    limit(size);
}

TiffStack TiffStack::of_lsm(string_view info, std::uint64_t size) {
    TiffStack stack;
    const auto number = [&](std::size_t at) {
        std::uint32_t value = 0;
        std::memcpy(&value, info.data() + at, sizeof value);
        return std::max<std::uint64_t>(value, 1);
    };
    constexpr std::size_t kSlices = 16, kTimes = 24, kInterval = 112;
    if (info.size() < kInterval + sizeof stack.interval_s_)
        return stack;
    stack.by_ = "LSM";
    stack.slices_ = number(kSlices);
    stack.times_ = number(kTimes);
    std::memcpy(&stack.interval_s_, info.data() + kInterval, sizeof stack.interval_s_);
    if (!(stack.interval_s_ > 0 && stack.interval_s_ < kLongestTime))
        stack.interval_s_ = 0;
    stack.limit(size);
    return stack;
}

/// Upper limit for files of this size.
void TiffStack::limit(std::uint64_t size) {
    const std::uint64_t most = std::min(kMostImages, size);
    if (channels_ > most || slices_ > most || times_ > most || channels_ * slices_ > most ||
        channels_ * slices_ * times_ > most)
        *this = {};
}

void TiffStack::read_imagej(string_view text) {
    by_ = "ImageJ";
    images_ = claimed(imagej_value(text, "images"), 0);
    channels_ = claimed(imagej_value(text, "channels"), 1);
    slices_ = claimed(imagej_value(text, "slices"), 1);
    times_ = claimed(imagej_value(text, "frames"), 1);
    if (channels_ * slices_ * times_ != images_) { // like ImageJ
        if (channels_ * slices_ > 1)
            note_ = "states " + std::to_string(channels_) + " channels, " + std::to_string(slices_) +
                    " slices and " + std::to_string(times_) + " times, which are not its " +
                    std::to_string(images_) + " images (ImageJ). All are read as frames.";
        channels_ = slices_ = 1;
        times_ = std::max<std::uint64_t>(images_, 1);
    }
    const string_view unit = imagej_value(text, "tunit").value_or("s");
    for (const char* key : {"finterval", "frame interval", "Frame interval"})
        if (const auto interval = imagej_value(text, key); interval && interval_s_ == 0)
            take_interval(*interval, unit);
}

/// Programs write 0 for unknown.
void TiffStack::take_interval(string_view text, string_view unit) {
    interval_s_ = std::max(0.0, seconds_of(text, unit));
    if (interval_s_ == 0 && text.find_first_of("123456789") != string_view::npos)
        not_taken_ = "Its interval of " + one_line(text) + " " + one_line(unit) +
                     " is not one in a known unit of time";
}

void TiffStack::read_tifffile(string_view text) {
    const nlohmann::json json = json_object_in(text);
    const auto shape = json.find("shape");
    if (shape == json.end() || !shape->is_array())
        return;
    std::vector<std::uint64_t> sides;
    for (const nlohmann::json& side : *shape)
        sides.push_back(side.is_number_unsigned() ? side.get<std::uint64_t>() : 0);
    const auto stated = json.find("axes");
    const std::string axes = stated != json.end() && stated->is_string() ? stated->get<std::string>() : "";
    by_ = "tifffile";
    const std::size_t planes = axes.find("YX");
    if (axes.size() == sides.size() && planes != std::string::npos) {
        std::string order;
        for (std::size_t i = planes; i-- > 0;) {
            const std::size_t axis = string_view("CZT").find(axes[i]);
            if (axis == string_view::npos || order.find(axes[i]) != std::string::npos || sides[i] == 0) {
                note_unknown_axes({sides.begin(), sides.begin() + static_cast<std::ptrdiff_t>(planes)});
                return;
            }
            order += axes[i];
        }
        for (std::size_t i = 0; i < planes; ++i)
            (axes[i] == 'C' ? channels_ : axes[i] == 'Z' ? slices_ : times_) = sides[i];
        for (const char axis : {'C', 'Z', 'T'})
            if (order.find(axis) == std::string::npos)
                order += axis;
        order_ = order;
    } else if (const std::size_t image = color_at_the_end(sides) ? 3 : 2; sides.size() > image)
        note_unknown_axes({sides.begin(), sides.end() - static_cast<std::ptrdiff_t>(image)});
    if (json.value("truncated", nlohmann::json()) != true || sides.size() < 3)
        return;
    const bool color = sides.size() > 3 && color_at_the_end(sides) && (axes.empty() || axes.back() == 'S');
    images_ = 1;
    for (std::size_t i = 0; i + (color ? 3 : 2) < sides.size(); ++i)
        images_ = sides[i] > 0 && images_ <= kMostImages / sides[i] ? images_ * sides[i] : 0;
}

/// `sides` of the axes besides those of an image; more than one is not a list of frames.
void TiffStack::note_unknown_axes(const std::vector<std::uint64_t>& sides) {
    std::string text;
    for (const std::uint64_t side : sides)
        if (side > 1)
            text += (text.empty() ? "" : "×") + std::to_string(side);
    if (text.find("×") != std::string::npos)
        note_ = "states " + text +
                " images (tifffile) along axes that are not known here. All are read as "
                "frames, in the order of the file.";
}

void TiffStack::read_ome(string_view text, int samples) {
    std::vector<XmlElement> images;
    each_element(text, "Pixels", [&](const XmlElement& pixels) { images.push_back(pixels); });
    std::size_t read = 0; // the first one that this file contains in part
    for (bool here = false; !here && read < images.size(); ++read) {
        *this = {};
        read_pixels(text, images[read], samples);
        here = places_.empty() ||
               std::any_of(places_.begin(), places_.end(), [](const Place& place) { return place.here; });
    }
    if (images.size() > 1)
        note_ = "has " + std::to_string(images.size()) + " images (OME-XML). Image " + std::to_string(read) +
                " is read. Save the others as files of their own.";
}

void TiffStack::read_pixels(string_view text, const XmlElement& pixels, int samples) {
    by_ = "OME-XML";
    channels_ = claimed(xml_attribute(pixels.tag, "SizeC"), 1);
    slices_ = claimed(xml_attribute(pixels.tag, "SizeZ"), 1);
    times_ = claimed(xml_attribute(pixels.tag, "SizeT"), 1);
    if (const auto together = static_cast<std::uint64_t>(samples); channels_ % together == 0)
        channels_ /= together;
    const std::string order(xml_attribute(pixels.tag, "DimensionOrder").value_or("XYCZT"));
    if (std::string axes = order.substr(std::min<std::size_t>(2, order.size()));
        std::is_permutation(axes.begin(), axes.end(), order_.begin(), order_.end()))
        order_ = std::move(axes);
    if (const auto interval = xml_attribute(pixels.tag, "TimeIncrement"))
        take_interval(*interval, xml_attribute(pixels.tag, "TimeIncrementUnit").value_or("s"));
    const std::uint64_t all = channels_ * slices_ * times_;
    if (channels_ > kMostImages || slices_ > kMostImages || times_ > kMostImages ||
        channels_ * slices_ > kMostImages || all > kMostImages)
        return;
    const string_view inside = pixels.rest.substr(0, pixels.rest.find("Pixels>"));
    each_element(inside, "Channel", [&](const XmlElement& channel) {
        names_.emplace_back(one_line(xml_attribute(channel.tag, "Name").value_or("")));
    });
    read_places(text, inside);
    std::vector<double> seconds(all, kNotStated), exposures(all, 0.0);
    bool any = false;
    each_element(inside, "Plane", [&](const XmlElement& plane) {
        const auto delta = xml_attribute(plane.tag, "DeltaT"),
                   exposure = xml_attribute(plane.tag, "ExposureTime");
        const std::uint64_t at =
            index(whole_number(plane, "TheC"), whole_number(plane, "TheZ"), whole_number(plane, "TheT"));
        if ((!delta && !exposure) || at >= all)
            return;
        const auto stated = [&](string_view number, const char* unit) {
            return number_of(number) * seconds_in(xml_attribute(plane.tag, unit).value_or("s"));
        };
        if (delta)
            seconds[at] = stated(*delta, "DeltaTUnit");
        if (exposure)
            exposures[at] = stated(*exposure, "ExposureTimeUnit");
        any = true;
    });
    if (!any)
        return;
    if (places_.empty()) {
        std::vector<Place> places;
        places.reserve(all);
        for (std::uint64_t i = 0; i < all; ++i)
            places.push_back(place(i));
        places_ = std::move(places);
    }
    for (Place& place : places_)
        if (place.here) {
            const std::uint64_t at = index(place.channel, place.slice, place.time);
            place.seconds = seconds[at];
            place.exposure_s = exposures[at];
        }
}

/// If OME-XML states the position of each image, and which images are in other files.
void TiffStack::read_places(string_view text, string_view pixels) {
    const std::uint64_t all = channels_ * slices_ * times_, most = all + text.size();
    const std::optional<XmlElement> root = xml_element(text, "OME");
    const string_view own = root ? xml_attribute(root->tag, "UUID").value_or("") : "";
    bool stated = false;
    std::vector<Place> places;
    each_element(pixels, "TiffData", [&](const XmlElement& data) {
        string_view uuid; // of the file that contains it
        if (!data.tag.ends_with('/'))
            if (const auto element = xml_element(data.rest.substr(0, data.rest.find("TiffData>")), "UUID"))
                uuid = element->rest.substr(0, element->rest.find('<'));
        const auto ifd = xml_attribute(data.tag, "IFD"), count = xml_attribute(data.tag, "PlaneCount");
        const std::uint64_t first =
            index(whole_number(data, "FirstC"), whole_number(data, "FirstZ"), whole_number(data, "FirstT"));
        stated = stated || !uuid.empty() || ifd || count || first > 0;
        if (first >= all || (!uuid.empty() && !own.empty() && uuid != own))
            return;
        const std::uint64_t from = whole_number(data, "IFD"),
                            images = std::min(count ? whole_number(data, "PlaneCount")
                                              : ifd ? 1
                                                    : all,
                                              all - first);
        if (from + images > most)
            return;
        places.resize(std::max<std::size_t>(places.size(), from + images));
        for (std::uint64_t i = 0; i < images; ++i)
            places[from + i] = place(first + i);
    });
    if (stated && places.empty())
        places.resize(1); // all of them are in other files
    if (stated)
        places_ = std::move(places);
}

std::uint64_t TiffStack::size_of(char axis) const {
    return axis == 'C' ? channels_ : axis == 'Z' ? slices_ : times_;
}

std::uint64_t TiffStack::index(std::uint64_t channel, std::uint64_t slice, std::uint64_t time) const {
    if (channel >= channels_ || slice >= slices_ || time >= times_)
        return channels_ * slices_ * times_;
    std::uint64_t at = 0;
    for (std::size_t i = order_.size(); i-- > 0;)
        at = at * size_of(order_[i]) + (order_[i] == 'C' ? channel : order_[i] == 'Z' ? slice : time);
    return at;
}

TiffStack::Place TiffStack::place(std::uint64_t image) const {
    if (!places_.empty())
        return image < places_.size() ? places_[image] : Place{};
    Place place{.here = true};
    for (const char axis : order_) {
        (axis == 'C'   ? place.channel
         : axis == 'Z' ? place.slice
                       : place.time) = static_cast<std::uint32_t>(image % size_of(axis));
        image /= size_of(axis);
    }
    place.here = image == 0;
    return place;
}

std::uint32_t TiffStack::along(const Place& place) const {
    return frame_axis_ == 'C' ? place.channel : frame_axis_ == 'Z' ? place.slice : place.time;
}

void TiffStack::choose(const StackChoice& choice, const std::string& file) {
    const std::string name = "'" + file + "'";
    const auto check = [&](const char* what, int asked, std::uint64_t most) {
        if (asked > 0 && static_cast<std::uint64_t>(asked) > most)
            throw UsageError("source image: " + name + " has no " + what + " " + std::to_string(asked) +
                             "; allowed: " + (most > 1 ? "1 to " + std::to_string(most) : "1") + ".");
    };
    check("channel", choice.channel, channels_);
    check("slice", choice.slice, slices_);
    frame_axis_ = times_ > 1                                       ? 'T'
                  : slices_ > 1 && choice.slice == 0               ? 'Z'
                  : channels_ > kMostColors && choice.channel == 0 ? 'C'
                                                                   : 'T';
    const std::uint32_t channel = choice.channel > 0 ? static_cast<std::uint32_t>(choice.channel - 1) : 0,
                        slice = choice.slice > 0 ? static_cast<std::uint32_t>(choice.slice - 1) : 0;
    chosen_ = !places_.empty() || channels_ * slices_ * times_ > size_of(frame_axis_);
    frames_.clear();
    if (chosen_) {
        const std::uint64_t all = places_.empty() ? channels_ * slices_ * times_ : places_.size();
        for (std::uint64_t i = 0; i < all; ++i) {
            const Place at = place(i);
            if (at.here && (frame_axis_ == 'C' || at.channel == channel) &&
                (frame_axis_ == 'Z' || at.slice == slice))
                frames_.push_back(static_cast<std::uint32_t>(i));
        }
        std::stable_sort(frames_.begin(), frames_.end(),
                         [&](auto a, auto b) { return along(place(a)) < along(place(b)); });
        if (frames_.empty())
            throw RunError(name + " has no image of channel " + std::to_string(channel + 1) + ", slice " +
                           std::to_string(slice + 1) + "; its " + by_ +
                           " says that they are in other files. Open those.");
    }
    deltas_ = frames_.size() > 1;
    for (std::size_t i = 0; i < frames_.size() && deltas_; ++i) {
        const double now = places_.empty() ? kNotStated : places_[frames_[i]].seconds;
        deltas_ = std::abs(now) < kLongestTime && (i == 0 || now > places_[frames_[i - 1]].seconds);
    }
    if (!deltas_ && frames_.size() > 1 && std::any_of(places_.begin(), places_.end(), [](const Place& at) {
            return at.seconds > 0 && at.seconds < kNotStated;
        }))
        not_taken_ = "Its times (DeltaT) do not rise from frame to frame, or are not stated of every frame";
    remark_ = remark(choice, name);
    if (!not_taken_.empty())
        remark_ += (remark_.empty() ? name + ": " : " ") + not_taken_ + ": --rate gives the time.";
}

std::string TiffStack::remark(const StackChoice& choice, const std::string& name) const {
    std::string text = note_.empty() ? "" : name + " " + note_;
    if (frame_axis_ != 'T')
        text += (text.empty() ? "" : " ") + name + " has " + std::to_string(size_of(frame_axis_)) +
                (frame_axis_ == 'Z' ? " slices" : " channels") + " at one time (" + by_ +
                "). They are read as frames; ?" + (frame_axis_ == 'Z' ? "slice" : "channel") +
                "=N reads one.";
    if (channels_ > 1 && frame_axis_ != 'C' && choice.channel == 0) {
        text += (text.empty() ? "" : " ") + name + " has " + std::to_string(channels_) + " channels (" + by_;
        for (std::size_t i = 0; i < names_.size() && i < channels_; ++i)
            if (!names_[i].empty())
                text += (i == 0 ? ": " : ", ") + std::to_string(i + 1) + " " + names_[i];
        text += "). Channel 1 is read; ?channel=N chooses another.";
    }
    if (slices_ > 1 && frame_axis_ != 'Z' && choice.slice == 0)
        text += (text.empty() ? "" : " ") + name + " has " + std::to_string(slices_) + " slices (" + by_ +
                "). Slice 1 is read; ?slice=N chooses another.";
    return text;
}

std::optional<std::uint64_t> TiffStack::image(std::uint64_t frame) const {
    if (!chosen_)
        return frame;
    return frame < frames_.size() ? std::optional<std::uint64_t>(frames_[frame]) : std::nullopt;
}

bool TiffStack::stated_times() const {
    return deltas_ || (interval_s_ > 0 && (frame_axis_ == 'T' || by_ == "ImageJ"));
}

std::optional<std::int64_t> TiffStack::time_ns(std::uint64_t image) const {
    if (!stated_times())
        return std::nullopt;
    const Place at = place(image);
    const double number = chosen_ ? along(at) : static_cast<double>(image);
    const double seconds = deltas_ ? at.seconds : number * interval_s_;
    return std::abs(seconds) < kLongestTime ? std::optional(std::llround(seconds * 1e9)) : std::nullopt;
}

std::optional<double> TiffStack::exposure_ms(std::uint64_t image) const {
    return image < places_.size() ? believable_ms(places_[image].exposure_s * 1e3) : std::nullopt;
}

std::optional<double> micro_manager_exposure(string_view json) {
    const nlohmann::json image = json_object_in(json);
    const auto stated = image.is_object() ? image.find("Exposure-ms") : image.end();
    if (stated == image.end())
        return std::nullopt;
    return believable_ms(stated->is_number()   ? stated->get<double>()
                         : stated->is_string() ? number_of(stated->get_ref<const std::string&>())
                                               : 0);
}

std::optional<std::int64_t> date_ns(const std::string& date) {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, read = 0;
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion,cert-err34-c): the digits are counted
    if (std::sscanf(date.c_str(), "%4d%*1[:-]%2d%*1[:-]%2d %2d:%2d:%2d%n", &year, &month, &day, &hour,
                    &minute, &second, &read) != 6 ||
        date.size() < static_cast<std::size_t>(read) + 2 || date[static_cast<std::size_t>(read)] != '.')
        return std::nullopt;
    const std::chrono::year_month_day when{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    const double fraction = number_of("0" + date.substr(static_cast<std::size_t>(read)));
    if (!when.ok() || year < 1970 || year > 2100 || hour > 23 || minute > 59 || second > 60)
        return std::nullopt;
    const std::int64_t seconds =
        std::chrono::sys_days(when).time_since_epoch().count() * std::int64_t{86400} + hour * 3600 +
        minute * 60 + second;
    return seconds * 1'000'000'000 + std::llround(fraction * 1e9);
}

} // namespace specklescope
