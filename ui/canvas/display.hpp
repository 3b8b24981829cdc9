// From results to textures: CUDA-GL interop where it works, otherwise an upload from the host; and from
// pixels to the range on the colour bar.
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

    /// Takes the newest result into the textures that are looked at. `raw`, `processed`: which ones.
    void show(Pipeline& pipeline, Result result, bool raw, bool processed);
    /// Fills a texture that was not looked at when the present result came.
    void look(Pipeline& pipeline, bool raw, bool processed);
    void clear();
    /// Host pixels of later results, also where the device draws: to be read one by one.
    void want_host(bool on) { wants_host_ = on; }

    /// With each result that fits, the change against it is computed, on the host; null: none. Of a result on
    /// the device the pixels are downloaded, at the pace of drawing.
    void set_baseline(std::shared_ptr<const BaselineImage> baseline);
    /// changed() is of the present result.
    bool has_change() const { return baseline_ && changed_filled_ == shown_ && changed_; }
    const ImageTexture& changed() const { return changed_; }
    std::optional<double> change_value(int x, int y) const; ///< %
    /// All of them, where has_change().
    ConstHostView change() const {
        return {reinterpret_cast<const std::byte*>(change_.data()), baseline_->shape()};
    }

    bool has_result() const { return static_cast<bool>(result_.raw); }
    const Result& result() const { return result_; }
    const ImageTexture& raw() const { return raw_; }
    const ImageTexture& processed() const { return processed_; }
    Shape raw_shape() const { return result_.raw ? result_.raw.shape() : Shape{}; }
    Shape processed_shape() const;
    /// A stage has moved the pixels: the processed picture cannot be laid on the raw one.
    bool moved() const;

    /// Automatic range: a few times a second, eased so that the colours do not flicker.
    void update_range(Mapping& mapping);
    void update_raw_range();
    /// Of a result that only the device has: some of its values, read for the automatic range.
    const std::vector<float>& sample() const { return sample_; }
    /// 0 to full scale, or from the 0.5 to the 99.5 percentile.
    ValueRange raw_range(bool stretch) const;

    /// The pixel of the raw image; nothing outside it.
    std::optional<double> raw_value(int x, int y) const;
    std::optional<double> processed_value(int x, int y) const;
    /// The same of a colour picture, whose pixels the host has; nothing for grey.
    std::optional<Color> raw_color(int x, int y) const;
    std::optional<Color> processed_color(int x, int y) const;
    /// The present result with host pixels, read back from the texture if need be.
    Result host_result() const;

    const std::string& path() const { return path_; }     ///< "CUDA-GL interop", "host upload"
    const std::string& reason() const { return reason_; } ///< why not interop, where there is a GPU
    PictureShader& shader() { return shader_; }

private:
    std::optional<Color> texel(int x, int y) const; ///< of a result that only the device has
    bool fill_processed(Pipeline& pipeline);
    bool fill_changed(Pipeline& pipeline);
    bool interop();
    void drop_registration();

    PictureShader shader_;
    SampleReader reader_;
    ImageTexture raw_, processed_, changed_;
    std::shared_ptr<const BaselineImage> baseline_;
    std::vector<float> change_; ///< %, of the last result that changed_ was filled from
    Result result_;
    std::uint64_t raw_filled_ = 0, processed_filled_ = 0, changed_filled_ = 0,
                  shown_ = 0; ///< serial numbers of results
    std::string path_ = "host upload", reason_;
    bool wants_host_ = false;
    SteadyClock::time_point ranged_{}, raw_ranged_{};
    std::uint64_t ranged_version_ = ~std::uint64_t{0};
    std::uint64_t read_version_ = 0; ///< of what reader_ reads
    ValueRange raw_range_;
    std::vector<float> sample_;
    struct Interop;
    std::unique_ptr<Interop> interop_;
};

} // namespace specklescope
