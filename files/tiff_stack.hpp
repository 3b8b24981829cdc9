// Axes of a TIFF file with several images, from its first description: OME-XML, ImageJ's lines or tifffile's
// JSON. Frames of a video follow each other along one axis. On the other axes one position is chosen; they
// are never mixed.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct XmlElement;

/// Selection of a file's images, counted from 1; 0: the first, with a remark.
struct StackChoice {
    int channel = 0, slice = 0;
    std::string path{}; ///< array of a file with several; empty: the only one
    std::string axes{}; ///< "thw": order of the array's axes; empty: as stated or usual
};

class TiffStack {
public:
    TiffStack() = default;
    /// `size`: bytes of the file, which limits what its text may claim. `samples`: per pixel, counted as
    /// channels by OME-XML.
    TiffStack(std::string_view description, std::uint64_t size, int samples);

    /// For Zeiss' LSM files, which have their own tag for this.
    static TiffStack of_lsm(std::string_view info, std::uint64_t size);

    /// Number of images according to the description; 0: not stated.
    std::uint64_t images() const { return images_; }
    /// "ImageJ", "OME-XML", "tifffile"; empty: not stated.
    const std::string& by() const { return by_; }

    /// Selects the frames. Throws UsageError if there is no such channel or slice. `file`: its name.
    void choose(const StackChoice& choice, const std::string& file);
    /// All images are frames, in the order of the file.
    bool plain() const { return !chosen_; }
    /// Image number of frame `frame`; nothing after the last.
    std::optional<std::uint64_t> image(std::uint64_t frame) const;
    /// Sentences about the selection; empty without a selection.
    const std::string& remark() const { return remark_; }

    /// True if images have times or an interval.
    bool stated_times() const;
    /// Time of an image in ns from the first one; nothing if not stated.
    std::optional<std::int64_t> time_ns(std::uint64_t image) const;

private:
    struct Place { ///< of an image on the axes, from 0
        std::uint32_t channel = 0, slice = 0, time = 0;
        bool here = false;                                        ///< in this file
        double seconds = std::numeric_limits<double>::infinity(); ///< infinite: not stated
    };
    void limit(std::uint64_t size);
    void read_imagej(std::string_view text);
    void take_interval(std::string_view text, std::string_view unit);
    void read_tifffile(std::string_view text);
    void note_unknown_axes(const std::vector<std::uint64_t>& sides);
    void read_ome(std::string_view text, int samples);
    void read_pixels(std::string_view text, const XmlElement& pixels, int samples);
    void read_places(std::string_view text, std::string_view pixels);
    std::uint64_t size_of(char axis) const;
    /// Image number for a place; the number of images if there is no such place.
    std::uint64_t index(std::uint64_t channel, std::uint64_t slice, std::uint64_t time) const;
    Place place(std::uint64_t image) const;
    std::uint32_t along(const Place& place) const; ///< position on the axis of the frames
    std::string remark(const StackChoice& choice, const std::string& name) const;

    std::string by_{}, remark_{};
    std::string not_taken_{}; ///< an invalid statement about time
    std::string note_{};      ///< omitted or unknown facts, to be put after the file's name
    std::uint64_t images_ = 0;
    std::uint64_t channels_ = 1, slices_ = 1, times_ = 1;
    std::string order_ = "CZT"; ///< of the axes, the fastest first
    char frame_axis_ = 'T';
    std::vector<Place> places_{};      ///< of the images, if each is stated
    std::vector<std::string> names_{}; ///< of the channels
    double interval_s_ = 0;            ///< between two times; 0: not stated
    bool deltas_ = false;              ///< each chosen image has a time
    bool chosen_ = false;
    std::vector<std::uint32_t> frames_{}; ///< image numbers, if chosen
};

/// A date of the tag DateTime in ns since 1970, if it has fractions of a second: without them it cannot time
/// frames.
std::optional<std::int64_t> date_ns(const std::string& date);

} // namespace specklescope
