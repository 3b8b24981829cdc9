// A static layer of two strengths, measured by stage static and used by stage flow: 1/τc against the truth of
// the simulated tissue, compared with one number for the whole image.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

namespace specklescope::static_map_test {

const std::string kBeta = "0.7588"; ///< of square pixels and speckle of 2 px (docs/science.md)

class StaticLayer : public testing::Test {
protected:
    /// Left half ρ = 0.5, right half ρ = 0.8; τc = 2 ms, T = 5 ms, frames 50 ms apart.
    void SetUp() override {
        for (const std::string rho : {"0.5", "0.8"})
            run("synthetic:uniform?width=200&height=140&tau=2&rate=20&exposure=5&seed=3&live=false&speed=0&"
                "rho=" +
                    rho,
                {"--frames", "120", "--stage", "none", "--record-raw", rho + ".tiff"});
        script("a, b = tifffile.imread('0.5.tiff'), tifffile.imread('0.8.tiff')\n"
               "a[:, :, 100:] = b[:, :, 100:]\n"
               "np.save('tissue.npy', a)\n");
    }
    void run(const std::string& source, const std::vector<std::string>& words) {
        std::vector<std::string> all = {"run", source, "--backend", "cpu"};
        all.insert(all.end(), words.begin(), words.end());
        const ChildResult result = run_program(all, folder.path().string());
        ASSERT_EQ(result.status, 0) << result.all();
    }
    void script(const std::string& text) {
        ASSERT_TRUE(test::python(folder, "import numpy as np, tifffile\n" + text))
            << test::read_file(folder / "python.log");
    }
    void flow(const std::string& part, const std::string& file) {
        run("tissue.npy",
            {"--stage", "speckle:radius=7,output=contrast2,speckle_size=2", "--stage",
             "average:frames=120,kind=window", "--stage",
             "flow:model=lorentzian,exposure=5,beta=" + kBeta + "," + part, "--snapshot", file});
    }
    TemporaryFolder folder;
};

TEST_F(StaticLayer, TheMapGivesTheFlowOfEachPart) {
    run("tissue.npy", {"--stage", "static:radius=7,frames=119,beta=" + kBeta, "--snapshot", "static.tiff"});
    run("tissue.npy",
        {"--stage", "static:radius=7,frames=119,output=dynamic,beta=" + kBeta, "--record", "dynamic.tiff"});
    flow("static_from=file,static_file=static.tiff", "map.tiff");
    flow("static_from=file,static_file=dynamic.tiff", "converted.tiff");
    flow("static=0.35", "one.tiff");
    script("def means(name):\n"
           "    rate = tifffile.imread(name) / 500\n"
           "    means = [np.nanmean(rate[10:-10, 10:85]), np.nanmean(rate[10:-10, 115:190])]\n"
           "    print(name, means)\n"
           "    return np.array(means)\n"
           "assert np.all(abs(means('map.tiff') - 1) < 0.05)\n"
           "assert np.all(abs(means('one.tiff') - 1) > 0.2)\n"
           "np.testing.assert_allclose(tifffile.imread('converted.tiff'), tifffile.imread('map.tiff'), "
           "rtol=1e-4)\n"
           "assert abs(np.mean(tifffile.imread('static.tiff')[:, 20:80]) - 0.5) < 0.05\n");
}

TEST_F(StaticLayer, AnotherQuantityIsRefused) {
    run("tissue.npy", {"--stage", "speckle:output=contrast", "--snapshot", "contrast.tiff"});
    const ChildResult result = run_program(
        {"run", "tissue.npy", "--stage", "speckle:output=contrast2", "--stage",
         "flow:model=lorentzian,static_from=file,static_file=contrast.tiff", "--snapshot", "flow.tiff"},
        folder.path().string());
    EXPECT_EQ(result.status, 2) << result.all();
    EXPECT_NE(result.err.find("static_file"), std::string::npos) << result.all();
}

} // namespace specklescope::static_map_test
