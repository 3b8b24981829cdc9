// What must hold for any picture, without a stored answer: on the host, and on the device where there is one.
#include "pipeline/error.hpp"
#include "pipeline/executor.hpp"
#include "random.hpp"
#include "stages/gaussian.hpp"

#include "child.hpp"

#ifdef SPECKLESCOPE_HAVE_CUDA
#include "cuda/devices.hpp"
#endif

#include <gtest/gtest.h>

#include <map>

namespace specklescope {
namespace {

using test::test_random;
using test::TestImage;

const std::vector<std::string> kBorders = {"replicate", "reflect", "wrap", "zero"};

/// A result on the host, its samples as double.
struct Picture {
    Shape shape;
    std::vector<double> samples; ///< channels side by side
    std::string note;            ///< of the first stage
    double at(int x, int y, int channel = 0) const {
        return samples[(static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                        static_cast<std::size_t>(x)) *
                           static_cast<std::size_t>(shape.channels) +
                       static_cast<std::size_t>(channel)];
    }
};

Picture picture_of(ConstHostView view) {
    Picture picture{view.shape, {}, ""};
    dispatch(view.shape.type, [&](auto zero) {
        using T = decltype(zero);
        for (int y = 0; y < view.shape.height; ++y)
            for (int i = 0; i < view.shape.width * view.shape.channels; ++i)
                picture.samples.push_back(static_cast<double>(view.as<T>().row(y)[i]));
    });
    return picture;
}

/// Largest absolute difference; infinite where the shapes differ or one alone is not finite.
double apart(const Picture& a, const Picture& b) {
    if (a.shape != b.shape)
        return std::numeric_limits<double>::infinity();
    double worst = 0;
    for (std::size_t i = 0; i < a.samples.size(); ++i) {
        if (a.samples[i] == b.samples[i] || (std::isnan(a.samples[i]) && std::isnan(b.samples[i])))
            continue;
        const double difference = std::abs(a.samples[i] - b.samples[i]);
        worst =
            std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
    }
    return worst;
}

Picture part(const Picture& from, int x0, int y0, int width, int height) {
    Picture cut{from.shape, {}, ""};
    cut.shape.width = width;
    cut.shape.height = height;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int c = 0; c < from.shape.channels; ++c)
                cut.samples.push_back(from.at(x0 + x, y0 + y, c));
    return cut;
}

class Identities : public testing::TestWithParam<Backend> {
protected:
    void SetUp() override {
#ifdef SPECKLESCOPE_HAVE_CUDA
        std::string reason;
        if (GetParam() == Backend::cuda && list_gpus(&reason).empty())
            GTEST_SKIP() << "no device: " << reason;
#endif
    }

    /// Runs frames through a chain ("flip | flip:direction=vertical"); the last result.
    template <class T> Picture run(const std::string& text, const std::vector<const TestImage<T>*>& frames) {
        auto chain = std::make_shared<Chain>();
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t bar = std::min(text.find(" | ", at), text.size());
            if (bar > at)
                chain->add(text.substr(at, bar - at));
            at = bar + 3;
        }
        const auto executor = make_executor({.backend = GetParam(), .threads = 0, .gpus = ""}, nullptr);
        executor->set_chain(chain, 1);
        Picture last;
        FrameRing ring(frames.front()->shape(), 2, executor->slot_memory());
        for (const TestImage<T>* image : frames) {
            Frame frame = ring.acquire(std::chrono::seconds(10));
            copy_pixels(image->view(), frame.host());
            frame.info() = FrameInfo();
            executor->submit(std::move(frame), true);
            const auto result = executor->collect(true);
            last = picture_of(result->image.host());
            last.note = result->notes->empty() ? "" : result->notes->front();
        }
        return last;
    }
    template <class T> Picture run(const std::string& text, const TestImage<T>& image) {
        return run<T>(text, std::vector<const TestImage<T>*>{&image});
    }

    static TestImage<float> noise(int width, int height, int channels = 1, std::uint64_t stream = 1) {
        auto random = test_random(stream);
        std::uniform_real_distribution<float> value(0, 1);
        return TestImage<float>(width, height, 2, channels).fill([&] { return value(random); });
    }
    template <class T>
    static TestImage<T> levels(int width, int height, int channels = 1, std::uint64_t stream = 1) {
        auto random = test_random(stream);
        std::uniform_int_distribution<int> value(0, std::is_same_v<T, std::uint8_t> ? 255 : 4095);
        return TestImage<T>(width, height, 2, channels).fill([&] { return value(random); });
    }
    template <class T> static TestImage<T> flat(int width, int height, double value, int channels = 1) {
        return TestImage<T>(width, height, 1, channels).fill([&] { return value; });
    }

    /// A NumPy file of float32 weights.
    std::string kernel_file(const std::string& name, int width, int height,
                            const std::vector<float>& weights) {
        std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(height) +
                           ", " + std::to_string(width) + "), }";
        head.append((64 - (10 + head.size() + 1) % 64) % 64, ' ');
        head += '\n';
        std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(head.size() & 255) +
                            static_cast<char>(head.size() >> 8) + head;
        bytes.append(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float));
        write_text(folder_ / name, bytes);
        return folder_ / name;
    }

    TemporaryFolder folder_;
};

// --- blurs ---

TEST_P(Identities, AFlatPictureStaysFlatUnderEveryBlur) {
    for (const char* method : {"direct", "recursive", "fft", "binomial3", "binomial5"})
        for (const char* border : {"replicate", "reflect", "wrap", "omit"})
            for (const char* sigma : {"0.5", "2", "11"}) {
                const std::string stage =
                    std::string("gaussian:method=") + method + ",border=" + border + ",sigma=" + sigma;
                SCOPED_TRACE(stage);
                for (const int channels : {1, 3}) {
                    for (const double value : run(stage, flat<float>(83, 61, 700, channels)).samples)
                        ASSERT_NEAR(value, 700, 700e-6);
                    for (const double value : run(stage, flat<std::uint8_t>(83, 61, 201, channels)).samples)
                        ASSERT_EQ(value, 201);
                    for (const double value :
                         run(stage, flat<std::uint16_t>(83, 61, 40001, channels)).samples)
                        ASSERT_EQ(value, 40001);
                }
            }
    for (const char* kernel : {"gaussian", "disk", "line", "glare"})
        for (const char* border : {"replicate", "reflect", "wrap"}) {
            const std::string stage = std::string("convolve:kernel=") + kernel + ",border=" + border;
            SCOPED_TRACE(stage);
            for (const double value : run(stage, flat<float>(83, 61, 700)).samples)
                ASSERT_NEAR(value, 700, 700e-5);
            for (const double value : run(stage, flat<std::uint8_t>(83, 61, 201, 3)).samples)
                ASSERT_EQ(value, 201);
        }
}

TEST_P(Identities, DirectAndFourierAreOneFilter) {
    for (const std::string& border : kBorders)
        for (const char* sigma : {"0.7", "3", "12"})
            for (const int channels : {1, 3}) {
                const auto image = noise(133, 97, channels, 7);
                const auto by = [&](const std::string& method) {
                    return run("gaussian:method=" + method + ",border=" + border + ",sigma=" + sigma, image);
                };
                EXPECT_LE(apart(by("direct"), by("fft")), 1e-5) << border << " sigma " << sigma;
            }
}

TEST_P(Identities, RecursiveIsAsNearToDirectAsItsTableSays) {
    struct Stated {
        const char* sigma;
        double impulse, step; ///< docs/gaussian.md: largest errors, of the true peak and of the step
    };
    for (const Stated& stated : {Stated{"1", 0.105, 0.0361}, {"3", 0.050, 0.0121}, {"10", 0.033, 0.0083}}) {
        TestImage<float> step(260, 12), line(260, 12);
        for (int y = 0; y < 12; ++y)
            for (int x = 0; x < 260; ++x) {
                step.at(x, y) = x < 130 ? 0.0F : 1.0F;
                line.at(x, y) = x == 130 ? 1.0F : 0.0F;
            }
        const auto by = [&](const std::string& method, const TestImage<float>& image) {
            return run("gaussian:method=" + method + ",sigma=" + stated.sigma, image);
        };
        constexpr double kCut = 1e-4; // direct ends at 4 sigma
        EXPECT_LE(apart(by("direct", step), by("recursive", step)), stated.step + kCut) << stated.sigma;
        const Picture peak = by("direct", line);
        EXPECT_LE(apart(peak, by("recursive", line)), (stated.impulse + 6e-4) * peak.at(130, 6))
            << stated.sigma;
    }
}

TEST_P(Identities, TheConvolutionsGaussianIsTheFiltersGaussian) {
    for (const std::string& border : kBorders)
        for (const char* sigma : {"2", "9"}) { // cut where both cut it
            const auto image = noise(120, 75, 3, 8);
            const Picture filter = run("gaussian:method=direct,border=" + border + ",sigma=" + sigma, image);
            const Picture convolution =
                run("convolve:kernel=gaussian,border=" + border + ",sigma=" + sigma, image);
            EXPECT_LE(apart(filter, convolution), 1e-5) << border << " sigma " << sigma;
        }
}

TEST_P(Identities, BlursCommuteWithMirrors) {
    const auto image = noise(101, 64, 3, 9);
    for (const char* stage : {"gaussian:method=direct,sigma=3", "gaussian:method=fft,sigma=3",
                              "gaussian:method=recursive,sigma=3", "convolve:kernel=disk,radius=6.5"}) {
        EXPECT_LE(apart(run("flip:direction=both | " + std::string(stage), image),
                        run(std::string(stage) + " | flip:direction=both", image)),
                  2e-5)
            << stage;
        EXPECT_LE(apart(run("rotate90 | " + std::string(stage), image),
                        run(std::string(stage) + " | rotate90", image)),
                  2e-5)
            << stage;
    }
}

// --- convolution ---

TEST_P(Identities, ADeltaGivesThePictureBackAndOneBesideTheMiddleMovesIt) {
    const std::string middle = kernel_file("delta.npy", 5, 3, {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
    const std::string beside = kernel_file("beside.npy", 5, 3, {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    const std::string stage = "convolve:kernel=file,file=";
    const auto grey = levels<std::uint16_t>(67, 41);
    const auto colour = levels<std::uint8_t>(67, 41, 3);
    const auto real = noise(67, 41, 3);
    EXPECT_EQ(apart(run(stage + middle, grey), picture_of(grey.view())), 0);
    EXPECT_EQ(apart(run(stage + middle, colour), picture_of(colour.view())), 0);
    EXPECT_LE(apart(run(stage + middle, real), picture_of(real.view())), 1e-6);
    // (f ∗ δ(x−2, y+1))(x, y) = f(x−2, y+1)
    const Picture moved = run(stage + beside, grey);
    const Picture was = picture_of(grey.view());
    EXPECT_EQ(apart(part(moved, 2, 0, 65, 40), part(was, 0, 1, 65, 40)), 0);
}

TEST_P(Identities, AKernelLargerThanThePictureIsSummedAsItStands) {
    auto random = test_random(5);
    std::uniform_real_distribution<float> value(-1, 2);
    const int kw = 45, kh = 37;
    std::vector<float> weights(static_cast<std::size_t>(kw * kh));
    for (float& weight : weights)
        weight = value(random);
    const std::string file = kernel_file("large.npy", kw, kh, weights);
    for (const auto& [width, height] : {std::pair{17, 13}, {1, 1}, {40, 1}, {3, 29}}) {
        const auto image = noise(width, height, 1, 6);
        for (const std::string& border : kBorders) {
            const Picture got =
                run("convolve:kernel=file,normalize=false,border=" + border + ",file=" + file, image);
            const auto index = [&](int i, int size) {
                if (border == "replicate")
                    return std::clamp(i, 0, size - 1);
                if (border == "wrap")
                    return (i % size + size) % size;
                const int fold = (i % (2 * size) + 2 * size) % (2 * size); // reflect: the edge pixel twice
                return fold < size ? fold : 2 * size - 1 - fold;
            };
            double worst = 0;
            for (int y = 0; y < height; ++y)
                for (int x = 0; x < width; ++x) {
                    double sum = 0;
                    for (int j = 0; j < kh; ++j)
                        for (int i = 0; i < kw; ++i) {
                            const int sx = x - (i - kw / 2), sy = y - (j - kh / 2);
                            if (border == "zero" && (sx < 0 || sy < 0 || sx >= width || sy >= height))
                                continue;
                            sum += static_cast<double>(weights[static_cast<std::size_t>(j * kw + i)]) *
                                   static_cast<double>(image.at(index(sx, width), index(sy, height)));
                        }
                    worst = std::max(worst, std::abs(sum - got.at(x, y)));
                }
            EXPECT_LE(worst, 1e-5 * kw * kh) << width << "×" << height << " " << border;
        }
    }
}

TEST_P(Identities, TilesGiveTheSamePixelsAsTheWhole) {
    const auto image = noise(1531, 1203, 1, 11);
    for (const char* stage : {"convolve:kernel=disk,radius=60", "convolve:kernel=line,length=301,angle=20"})
        for (const char* border : {"replicate", "reflect", "wrap", "zero"}) {
            const Picture whole = run(std::string(stage) + ",memory=2048,border=" + border, image);
            const Picture tiles = run(std::string(stage) + ",memory=16,border=" + border, image);
            EXPECT_NE(whole.note, tiles.note) << "both " << whole.note;
            EXPECT_LE(apart(whole, tiles), 1e-5) << stage << " " << border;
        }
}

// --- histograms ---

TEST_P(Identities, EqualisingTwiceIsEqualisingOnce) {
    for (const int channels : {1}) {
        const auto image = levels<std::uint8_t>(93, 70, channels);
        const Picture once = run("equalize:bins=256", image);
        EXPECT_EQ(apart(once, run("equalize:bins=256 | equalize:bins=256", image)), 0);
        EXPECT_GT(apart(once, picture_of(image.view())), 0);
    }
    const auto deep = levels<std::uint16_t>(93, 70);
    EXPECT_EQ(apart(run("equalize:bins=65536", deep), run("equalize:bins=65536 | equalize:bins=65536", deep)),
              0);
}

TEST_P(Identities, EqualisingNothingIsNothing) {
    const auto image = levels<std::uint8_t>(93, 70, 3);
    EXPECT_EQ(apart(run("equalize:strength=0", image), picture_of(image.view())), 0);
}

TEST_P(Identities, EqualisingKeepsTheOrderOfGreyLevels) {
    const auto image = levels<std::uint16_t>(120, 80);
    for (const char* stage :
         {"equalize", "equalize:scaling=minmax", "equalize:bins=16", "equalize:strength=0.5"}) {
        const Picture made = run(stage, image);
        std::map<int, double> seen;
        for (int y = 0; y < 80; ++y)
            for (int x = 0; x < 120; ++x) {
                const auto [at, fresh] = seen.emplace(image.at(x, y), made.at(x, y));
                ASSERT_TRUE(fresh || at->second == made.at(x, y)) << "one level, two results: " << stage;
            }
        double last = -1;
        for (const auto& [level, value] : seen) {
            ASSERT_GE(value, last) << stage << " at level " << level;
            last = value;
        }
    }
}

TEST_P(Identities, OneTileWithoutALimitIsGlobalEqualisation) {
    const auto image = levels<std::uint8_t>(96, 64);
    const Picture local = run("clahe:tiles=1,clip=0,bins=256", image);
    const Picture global = run("equalize:bins=256", image);
    EXPECT_LE(apart(local, global), 2);
}

// --- time ---

TEST_P(Identities, AStillSceneHasNoTemporalContrastAndInfiniteFlow) {
    for (int count : {2, 5, 25, 60}) {
        const auto image = levels<std::uint16_t>(45, 31);
        const auto real = noise(45, 31);
        auto lit = image; // no black pixel: those are undefined
        for (int y = 0; y < 31; ++y)
            for (int x = 0; x < 45; ++x)
                lit.at(x, y) = std::max<std::uint16_t>(1, lit.at(x, y));
        const std::vector<const TestImage<std::uint16_t>*> still(static_cast<std::size_t>(count), &lit);
        const std::vector<const TestImage<float>*> still_real(static_cast<std::size_t>(count), &real);
        for (const double value : run<std::uint16_t>("temporal:output=contrast", still).samples)
            ASSERT_EQ(value, 0) << count;
        for (const double value : run<float>("temporal:output=contrast", still_real).samples)
            ASSERT_EQ(value, 0) << count;
        for (const double value : run<std::uint16_t>("temporal:output=sfi", still).samples)
            ASSERT_EQ(value, std::numeric_limits<double>::infinity()) << count;
    }
}

TEST_P(Identities, TemporalContrastDoesNotSeeBrightnessOrOldFrames) {
    std::vector<TestImage<float>> frames, brighter;
    for (std::uint64_t i = 0; i < 12; ++i) {
        frames.push_back(noise(45, 31, 1, 100 + i));
        brighter.push_back(frames.back());
        for (int y = 0; y < 31; ++y)
            for (int x = 0; x < 45; ++x)
                brighter.back().at(x, y) *= 4;
    }
    const auto all = [](const std::vector<TestImage<float>>& from, std::size_t first) {
        std::vector<const TestImage<float>*> list;
        for (std::size_t i = first; i < from.size(); ++i)
            list.push_back(&from[i]);
        return list;
    };
    const std::string stage = "temporal:frames=7,output=contrast";
    const Picture twelve = run<float>(stage, all(frames, 0));
    EXPECT_LE(apart(twelve, run<float>(stage, all(brighter, 0))), 1e-6);
    EXPECT_LE(apart(twelve, run<float>(stage, all(frames, 5))), 1e-6) << "the last seven alone";
}

// --- geometry ---

TEST_P(Identities, FourQuarterTurnsAndTwoMirrorsAreNothing) {
    const auto check = [&](const auto& image) {
        const Picture was = picture_of(image.view());
        EXPECT_EQ(apart(run("rotate90 | rotate90 | rotate90 | rotate90", image), was), 0);
        EXPECT_EQ(apart(run("rotate90:turns=1 | rotate90:turns=3", image), was), 0);
        EXPECT_EQ(apart(run("rotate90 | rotate90", image), run("rotate90:turns=2", image)), 0);
        EXPECT_EQ(apart(run("rotate90:turns=2", image), run("flip:direction=both", image)), 0);
        for (const char* way : {"horizontal", "vertical", "both"})
            EXPECT_EQ(
                apart(run(std::string("flip:direction=") + way + " | flip:direction=" + way, image), was), 0);
        EXPECT_EQ(apart(run("flip | flip:direction=vertical", image), run("flip:direction=both", image)), 0);
        EXPECT_GT(apart(run("rotate90:turns=2", image), was), 0);
    };
    check(levels<std::uint8_t>(131, 67, 3));
    check(levels<std::uint16_t>(64, 1));
    check(noise(1, 45, 3));
    check(levels<std::uint16_t>(130, 129));
    const Picture turned = run("rotate90", levels<std::uint8_t>(5, 3)); // clockwise: the left column goes up
    const auto image = levels<std::uint8_t>(5, 3);
    for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 3; ++x)
            EXPECT_EQ(turned.at(x, y), image.at(y, 2 - x));
}

TEST_P(Identities, ACropIsThatPartOfThePicture) {
    const auto check = [&](const auto& image) {
        const Picture was = picture_of(image.view());
        EXPECT_EQ(apart(run("crop", image), was), 0);
        EXPECT_EQ(apart(run("crop:x=3,y=2,width=50,height=31", image), part(was, 3, 2, 50, 31)), 0);
        EXPECT_EQ(
            apart(run("crop:x=7,y=11", image), part(was, 7, 11, was.shape.width - 7, was.shape.height - 11)),
            0);
        EXPECT_EQ(apart(run("crop:x=3,y=2 | crop:x=4,y=9", image), run("crop:x=7,y=11", image)), 0);
    };
    check(levels<std::uint8_t>(77, 59, 3));
    check(levels<std::uint16_t>(77, 59));
    check(noise(77, 59, 3));
}

TEST_P(Identities, BorderCropIsTheInsideOfAnyOtherBorder) {
    const auto image = levels<std::uint16_t>(77, 59);
    for (const char* stage :
         {"speckle:radius=4,output=contrast,border=", "gaussian:method=direct,sigma=1,border=",
          "gaussian:method=fft,sigma=1,border=", "gaussian:method=binomial5,border="}) {
        const Picture inside = run(std::string(stage) + "crop", image);
        const int margin = (77 - inside.shape.width) / 2;
        EXPECT_GT(margin, 0);
        for (const char* border : {"replicate", "reflect", "zero"}) {
            const Picture whole = run(std::string(stage) + border, image);
            const bool by_fft = std::string(stage).find("fft") != std::string::npos; // a rounding may differ
            EXPECT_LE(apart(inside, part(whole, margin, margin, inside.shape.width, inside.shape.height)),
                      by_fft ? 1 : 0)
                << stage << border;
        }
    }
}

TEST_P(Identities, SmallerPicturesKeepMeansAndNestWhereNothingIsAveraged) {
    for (const double value : run("downsample:factor=4", flat<std::uint16_t>(75, 50, 1234, 3)).samples)
        EXPECT_EQ(value, 1234);
    const auto image = levels<std::uint16_t>(96, 64, 3);
    EXPECT_EQ(apart(run("downsample:method=nearest,factor=2 | downsample:method=nearest,factor=3", image),
                    run("downsample:method=nearest,factor=6", image)),
              0);
    const auto real = noise(96, 64, 1, 3);
    EXPECT_LE(apart(run("downsample:factor=2 | downsample:factor=2", real), run("downsample:factor=4", real)),
              1e-6);
}

TEST_P(Identities, SpeckleContrastDoesNotSeeBrightness) {
    auto image = levels<std::uint16_t>(77, 59);
    const Picture one = run("speckle:output=contrast", image);
    for (int y = 0; y < 59; ++y)
        for (int x = 0; x < 77; ++x)
            image.at(x, y) = static_cast<std::uint16_t>(image.at(x, y) * 8);
    EXPECT_LE(apart(one, run("speckle:output=contrast", image)), 1e-6);
}

std::vector<Backend> backends() {
#ifdef SPECKLESCOPE_HAVE_CUDA
    return {Backend::cpu, Backend::cuda};
#else
    return {Backend::cpu};
#endif
}
INSTANTIATE_TEST_SUITE_P(On, Identities, testing::ValuesIn(backends()), [](const auto& tested) {
    return std::string(tested.param == Backend::cpu ? "cpu" : "cuda");
});

} // namespace
} // namespace specklescope
