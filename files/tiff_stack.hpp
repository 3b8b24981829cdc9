// The axes of a TIFF file that holds several images, as its first description states them: OME-XML, ImageJ's
// lines or tifffile's JSON. Frames of a film follow each other along one axis. The other axes are chosen from
// and never mixed into it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct XmlElement;

/// Which images of a file are its frames, counted from 1; 0: the first, with a remark.
struct StackChoice {
    int channel = 0, slice = 0;
};

class TiffStack {
public:
    TiffStack() = default;
    /// `size`: bytes of the file, which bound what its text may claim. `samples`: of a pixel, which OME-XML
    /// counts as channels.
    TiffStack(std::string_view description, std::uint64_t size, int samples);

    /// Of Zeiss' LSM files, which describe themselves in a tag of their own.
    static TiffStack of_lsm(std::string_view info, std::uint64_t size);

    /// Images that the description claims; 0: it does not.
    std::uint64_t images() const { return images_; }
    /// "ImageJ", "OME-XML", "tifffile"; empty: nothing is stated.
    const std::string& by() const { return by_; }

    /// Selects the frames. Throws UsageError where there is no such channel or slice. `file`: its name.
    void choose(const StackChoice& choice, const std::string& file);
    /// All images are frames, in the order of the file.
    bool plain() const { return !chosen_; }
    /// The number of the image that frame `frame` is; nothing beyond the last.
    std::optional<std::uint64_t> image(std::uint64_t frame) const;
    /// Sentences on what was chosen; empty where there was no choice.
    const std::string& remark() const { return remark_; }

    /// Whether there are times: of the images, or an interval.
    bool stated_times() const;
    /// Time of an image in ns from the first one; nothing where it is not stated.
    std::optional<std::int64_t> time_ns(std::uint64_t image) const;

private:
    struct Place { ///< of an image on the axes, from 0
        std::uint32_t channel = 0, slice = 0, time = 0;
        bool here = false;                                        ///< this file holds it
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
    /// The number of all images where there is no such place.
    std::uint64_t index(std::uint64_t channel, std::uint64_t slice, std::uint64_t time) const;
    Place place(std::uint64_t image) const;
    std::uint32_t along(const Place& place) const; ///< the axis of the frames
    std::string remark(const StackChoice& choice, const std::string& name) const;

    std::string by_{}, remark_{};
    std::string not_taken_{}; ///< what is stated of time and cannot be right
    std::string note_{};      ///< what is left out or not known, to be put after the file's name
    std::uint64_t images_ = 0;
    std::uint64_t channels_ = 1, slices_ = 1, times_ = 1;
    std::string order_ = "CZT"; ///< of the axes, the fastest first
    char frame_axis_ = 'T';
    std::vector<Place> places_{};      ///< of the images, where each is stated
    std::vector<std::string> names_{}; ///< of the channels
    double interval_s_ = 0;            ///< from one time to the next; 0: not stated
    bool deltas_ = false;              ///< each chosen image states its time
    bool chosen_ = false;
    std::vector<std::uint32_t> frames_{}; ///< images, where chosen
};

/// A date as the tag DateTime has it, in ns since 1970, where it has a fraction of a second: without one it
/// is no clock for frames.
std::optional<std::int64_t> date_ns(const std::string& date);

} // namespace specklescope
