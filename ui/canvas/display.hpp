// Uploads results to textures (CUDA-GL interop where it works, otherwise from the host) and computes the
// range of the colour bar.
#pragma once

#include "analysis/baseline_image.hpp"
#include "pipeline/pipeline.hpp"
#include "ui/canvas/pixel.hpp"
#include "ui/canvas/view.hpp"

#include <optional>

namespace specklescope {

class Display {
public:
    Display();
    ~Display();
    Display(const Display&) = delete;
    Display& operator=(const Display&) = delete;

    /// Loads the newest result into the visible textures. `raw`, `processed`: which textures are visible.
    void show(Pipeline& pipeline, Result result, bool raw, bool processed);
    /// Fills a texture that was not visible when the current result arrived.
    void look(Pipeline& pipeline, bool raw, bool processed);
    /// Call after the window has presented a frame. Counts the result if it is new, with `timed` also its
    /// delay to the screen.
    void presented(Pipeline& pipeline, bool timed);
    void clear();
    /// Requests host pixels of later results, also where the device draws, to read single pixels.
    void want_host(bool on) { wants_host_ = on; }

    /// Computes the change against this baseline for each matching result, on the host; null: none. The
    /// pixels of a result on the device are downloaded at the drawing rate.
    void set_baseline(std::shared_ptr<const BaselineImage> baseline);
    /// True if change() belongs to the current result.
    bool has_change() const { return baseline_ && changed_filled_ == shown_ && changed_; }
    const ImageTexture& changed() const { return changed_; }
    std::optional<double> change_value(int x, int y) const; ///< in %
    /// All values of the change; requires has_change().
    ConstHostView change() const {
        return {reinterpret_cast<const std::byte*>(change_.data()), baseline_->shape()};
    }

    bool has_result() const { return static_cast<bool>(result_.raw); }
    const Result& result() const { return result_; }
    const ImageTexture& raw() const { return raw_; }
    const ImageTexture& processed() const { return processed_; }
    Shape raw_shape() const { return result_.raw ? result_.raw.shape() : Shape{}; }
    Shape processed_shape() const;
    /// True if a stage has moved the pixels: the processed picture cannot be laid over the raw picture.
    bool moved() const;

    /// Shape that the camera places: the raw image, which the processed image overlays pixel by pixel. If a
    /// stage has moved the pixels, the processed image has its own shape.
    Shape placed_shape(bool raw) const { return raw || !moved() ? raw_shape() : processed_shape(); }
    /// Columns and rows that border = crop removes on each side.
    std::pair<int, int> border() const {
        const Shape placed = placed_shape(false), processed = processed_shape();
        return {(placed.width - processed.width) / 2, (placed.height - processed.height) / 2};
    }

    /// Updates the automatic range a few times a second, with smoothing against flicker.
    void update_range(Mapping& mapping);
    void update_raw_range();
    /// Sample of the values of a result on the device, read for the automatic range.
    const std::vector<float>& sample() const { return sample_; }
    /// 0 to full scale, or with `stretch` from the 0.5 to the 99.5 percentile.
    ValueRange raw_range(bool stretch) const;

    /// Value of a pixel of the raw image; nullopt outside the image.
    std::optional<double> raw_value(int x, int y) const;
    std::optional<double> processed_value(int x, int y) const;
    /// Colour of a pixel of the raw image, from host pixels; nullopt for a grey image.
    std::optional<Color> raw_color(int x, int y) const;
    std::optional<Color> processed_color(int x, int y) const;
    /// The current result with host pixels, read back from the texture if necessary.
    Result host_result() const;

    const std::string& path() const { return path_; }     ///< "CUDA-GL interop", "host upload"
    const std::string& reason() const { return reason_; } ///< why interop is not used on a GPU
    PictureShader& shader() { return shader_; }

private:
    std::optional<Color> texel(int x, int y) const; ///< of a result on the device only
    bool fill_processed(Pipeline& pipeline);
    bool fill_changed(Pipeline& pipeline);
    bool interop();
    void drop_registration();

    PictureShader shader_;
    SampleReader reader_;
    ImageTexture raw_, processed_, changed_;
    std::shared_ptr<const BaselineImage> baseline_;
    std::vector<float> change_; ///< in %, of the result in changed_filled_
    Result result_;
    std::uint64_t raw_filled_ = 0, processed_filled_ = 0, changed_filled_ = 0, shown_ = 0,
                  presented_ = 0; ///< serial numbers of results
    std::string path_ = "host upload", reason_;
    bool wants_host_ = false;
    SteadyClock::time_point ranged_{}, raw_ranged_{};
    std::uint64_t ranged_version_ = ~std::uint64_t{0};
    std::uint64_t read_version_ = 0; ///< version of the result that reader_ reads
    ValueRange raw_range_;
    std::vector<float> sample_;
    struct Interop;
    std::unique_ptr<Interop> interop_;
};

} // namespace specklescope
