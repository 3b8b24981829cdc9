// Runs one stage with a window, frame by frame.
#pragma once

#include "pipeline/stage.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace specklescope::test {

/// "temporal", {"frames=7", "output=contrast"}
inline Params params_of(const std::string& stage, const std::vector<std::string>& texts) {
    Params params(*find_stage(stage).table);
    for (const std::string& text : texts)
        params.set_text(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
    return params;
}

class StageRunner {
public:
    StageRunner(const std::string& stage, const std::vector<std::string>& texts, const Shape& input)
        : name_(stage), stage_(find_stage(stage).make_host(params_of(stage, texts))),
          shape_(stage_->prepare(input)), output(shape_.width, shape_.height, 3, shape_.channels) {
        output.fill([] { return -77.0F; });
    }
    /// Runs the frame into `output` and `counts`.
    template <class T> void run(const TestImage<T>& frame, bool again = false) {
        counts = {};
        stage_->run(frame.view(), output.view(), {.info = info, .counts = counts, .again = again});
    }
    void set(const std::vector<std::string>& texts) { stage_->set_params(params_of(name_, texts)); }
    HostStage& stage() { return *stage_; }
    int held() const { return stage_->warmup().frames; }

private:
    std::string name_;
    std::unique_ptr<HostStage> stage_;
    Shape shape_;

public:
    TestImage<float> output;
    PixelCounts counts;
    FrameInfo info;
};

/// The last `size` frames.
template <class T> class LastFrames {
public:
    explicit LastFrames(int size) : size_(static_cast<std::size_t>(size)) {}
    void add(const TestImage<T>& frame) {
        frames_.push_back(frame);
        if (frames_.size() > size_)
            frames_.pop_front();
    }
    void clear() { frames_.clear(); }
    int held() const { return static_cast<int>(frames_.size()); }
    std::vector<T> samples(int x, int y) const {
        std::vector<T> list;
        for (const TestImage<T>& frame : frames_)
            list.push_back(frame.at(x, y));
        return list;
    }

private:
    std::size_t size_;
    std::deque<TestImage<T>> frames_;
};

} // namespace specklescope::test
