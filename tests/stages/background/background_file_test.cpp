// Dark frames and flat fields from files: every type, one page or the mean of all, NPY, and refusals.
#include "base/error.hpp"
#include "stages/background/background.hpp"
#include "tests/stages/background/background_oracle.hpp"
#include "tests/support/file_tools.hpp"

namespace specklescope::test::background_file_test {

template <class T> void expect_from_files(int channels) {
    std::mt19937_64 random = test_random(1);
    const TemporaryFolder folder;
    const auto dark = noise<T>(channels, 10, 30, random);
    auto flat = noise<T>(channels, 90, 200, random);
    flat.at(4, 2) = dark.at(4, 2); // no light there
    flat.at(5, 3) = 0;
    const auto frame = noise<T>(channels, 0, 250, random);
    save_tiff(folder / "dark.tif", dark);
    save_tiff(folder / "flat.tif", flat);
    const Plane dark_plane = mean_plane<T>({dark});
    const Plane flat_plane = mean_plane<T>({flat});
    const std::string dark_text = "dark_file=" + (folder / "dark.tif");
    const std::string flat_text = "flat_file=" + (folder / "flat.tif");
    StageRunner both("background", {"dark=file", dark_text, "flat=file", flat_text}, frame.shape());
    both.run(frame);
    expect_corrected(both, frame, &dark_plane, &flat_plane);
    EXPECT_EQ(both.counts.undefined, 2U);
    EXPECT_NE(both.stage().note().find("2 samples"), std::string::npos) << both.stage().note();
    StageRunner only_dark("background", {"dark=file", dark_text}, frame.shape());
    only_dark.run(frame);
    expect_corrected(only_dark, frame, &dark_plane, nullptr);
    StageRunner only_flat("background", {"flat=file", flat_text, "black=7"}, frame.shape());
    only_flat.run(frame);
    expect_corrected(only_flat, frame, nullptr, &flat_plane, 7);
    only_flat.set({"flat=file", flat_text, "black=12"});
    only_flat.run(frame, true);
    expect_corrected(only_flat, frame, nullptr, &flat_plane, 12);
}

TEST(Background, FilesOfEveryType) {
    for (const int channels : {1, 3}) {
        expect_from_files<std::uint8_t>(channels);
        expect_from_files<std::uint16_t>(channels);
        expect_from_files<float>(channels);
    }
}

TEST(Background, UsesTheMeanOfPagesOrTheNamedPage) {
    std::mt19937_64 random = test_random(11);
    const TemporaryFolder folder;
    std::vector<TestImage<std::uint16_t>> pages;
    for (int i = 0; i < 5; ++i) {
        pages.push_back(noise<std::uint16_t>(1, 100 * i, 100 * i + 50, random));
        save_tiff(folder / "dark.tif", pages.back(), i == 0 ? "w" : "a");
    }
    const auto frame = noise<std::uint16_t>(1, 0, 4000, random);
    const auto run = [&](const std::string& name, const std::vector<TestImage<std::uint16_t>>& expected) {
        StageRunner stage("background", {"dark=file", "dark_file=" + name}, frame.shape());
        stage.run(frame);
        const Plane plane = mean_plane(expected);
        expect_corrected(stage, frame, &plane, nullptr);
        return stage.stage().note();
    };
    EXPECT_EQ(run(folder / "dark.tif", pages), "dark frame: mean of 5 pages");
    EXPECT_EQ(run((folder / "dark.tif") + "?page=1", {pages[0]}), "");
    EXPECT_EQ(run((folder / "dark.tif") + "?page=4", {pages[3]}), "");
    std::filesystem::copy_file(folder / "dark.tif", folder / "a.tif?page=9");
    EXPECT_EQ(run(folder / "a.tif?page=9", pages), "dark frame: mean of 5 pages") << "a file of that name";
    const auto refused = [&](const std::string& name) -> std::string {
        try {
            StageRunner(std::string("background"), {"flat=file", "flat_file=" + name}, frame.shape());
        } catch (const UsageError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_NE(refused((folder / "dark.tif") + "?page=6").find("has no page 6; allowed: 1…5"),
              std::string::npos);
    for (const char* page : {"0", "-1", "x", "2x", ""})
        EXPECT_NE(refused((folder / "dark.tif") + "?page=" + page).find("is not a page; allowed"),
                  std::string::npos)
            << page;
    save_tiff(folder / "dark.tif", TestImage<std::uint16_t>(5, 4), "a");
    EXPECT_NE(
        refused(folder / "dark.tif").find("is 5×4 u16 on page 6; it must be as large as the input, 23x7"),
        std::string::npos)
        << refused(folder / "dark.tif");
    EXPECT_EQ(run((folder / "dark.tif") + "?page=2", {pages[1]}), "");
}

TEST(Background, NpyOfAnyTypeOneImageOrAStack) {
    const TemporaryFolder folder;
    ASSERT_TRUE(python(folder, "import numpy as np\n"
                               "a = np.arange(4 * 7 * 23).reshape(4, 7, 23)\n"
                               "for t in ('f2', 'f4', '>f8', 'i8', '>u2', 'u4'):\n"
                               "    np.save('stack' + t, a.astype(t)); np.save('one' + t, a[2].astype(t))\n"
                               "np.save('colour', np.stack([a, a + 1, a + 2], axis=-1).astype('u2'))\n"
                               "np.save('flat', np.arange(5))\n"))
        << "needs python3-numpy";
    for (const int channels : {1, 3}) {
        const TestImage<std::uint16_t> frame(23, 7, 0, channels); // black: minus the dark frame
        for (const std::string type : {"f2", "f4", ">f8", "i8", ">u2", "u4"}) {
            if (channels == 3)
                continue;
            for (const std::string name : {"stack", "one"}) {
                StageRunner run("background", {"dark=file", "dark_file=" + (folder / (name + type + ".npy"))},
                                frame.shape());
                run.run(frame);
                for (int y = 0; y < 7; ++y)
                    for (int x = 0; x < 23; ++x)
                        ASSERT_EQ(-run.output.at(x, y),
                                  static_cast<float>(161 * (name == "one" ? 2 : 1.5) + 23 * y + x))
                            << name << type;
                EXPECT_EQ(run.stage().note(), name == "one" ? "" : "dark frame: mean of 4 pages");
            }
        }
        if (channels == 1)
            continue;
        StageRunner run("background", {"dark=file", "dark_file=" + (folder / "colour.npy") + "?page=2"},
                        frame.shape());
        run.run(frame);
        for (int c = 0; c < 3; ++c)
            EXPECT_EQ(-run.output.at(3 * 5 + c, 6), 161 + 23 * 6 + 5 + c);
    }
    try {
        StageRunner(std::string("background"), {"dark=file", "dark_file=" + (folder / "flat.npy")},
                    {23, 7, 1, PixelType::u8});
        ADD_FAILURE();
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("holds an array of 5; it must be as large"),
                  std::string::npos)
            << error.what();
    }
}

/// Impossible image sizes are refused as such, along either side.
TEST(Background, AnNpyArrayOfAnImpossibleSizeIsRefused) {
    const TemporaryFolder folder;
    for (const std::string shape : {"1, 70000", "70000, 1", "3, 70000, 2", "3, 2, 70000"}) {
        const std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }";
        const std::size_t numbers = 70000U * (shape[0] == '3' ? 6U : 1U);
        std::string header = text;
        header.resize(118, ' ');
        write_file(folder / "wide.npy", std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) +
                                            '\0' + header + std::string(numbers, '\1'));
        std::string told = shape;
        for (std::size_t at = told.find(", "); at != std::string::npos; at = told.find(", "))
            told.replace(at, 2, "×");
        try {
            StageRunner(std::string("background"), {"dark=file", "dark_file=" + (folder / "wide.npy")},
                        {23, 7, 1, PixelType::u8});
            ADD_FAILURE() << shape;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what())
                          .find("holds an array of " + told + "; it must be as large as the input, 23x7"),
                      std::string::npos)
                << error.what();
        }
    }
}

/// Both orders of a stack, its pages one by one and their mean: they are summed while read.
TEST(Background, AStackOfEitherOrderIsSummedInPlace) {
    constexpr int kPages = 3, kWidth = 5, kHeight = 4;
    const auto number = [](int page, int y, int x) { return static_cast<char>(page * 30 + y * kWidth + x); };
    const TemporaryFolder folder;
    for (const bool fortran : {false, true}) {
        std::string data;
        if (fortran)
            for (int x = 0; x < kWidth; ++x)
                for (int y = 0; y < kHeight; ++y)
                    for (int page = 0; page < kPages; ++page)
                        data += number(page, y, x);
        else
            for (int page = 0; page < kPages; ++page)
                for (int y = 0; y < kHeight; ++y)
                    for (int x = 0; x < kWidth; ++x)
                        data += number(page, y, x);
        std::string header = std::string("{'descr': '|u1', 'fortran_order': ") +
                             (fortran ? "True" : "False") + ", 'shape': (3, 4, 5), }";
        header.resize(118, ' ');
        write_file(folder / "a.npy",
                   std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header + data);
        const TestImage<std::uint16_t> frame(kWidth, kHeight, 0, 1);
        for (int page = 0; page <= kPages; ++page) {
            const std::string name = (folder / "a.npy") + (page == 0 ? "" : "?page=" + std::to_string(page));
            StageRunner run("background", {"dark=file", "dark_file=" + name}, frame.shape());
            run.run(frame);
            for (int y = 0; y < kHeight; ++y)
                for (int x = 0; x < kWidth; ++x)
                    ASSERT_EQ(-run.output.at(x, y), number(page == 0 ? 1 : page - 1, y, x))
                        << name << fortran;
        }
        try {
            StageRunner(std::string("background"),
                        {"dark=file", "dark_file=" + (folder / "a.npy") + "?page=4"}, frame.shape());
            ADD_FAILURE();
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("has no page 4; allowed: 1…3"), std::string::npos)
                << error.what();
        }
    }
}

TEST(Background, FilesThatDoNotFitAreRefused) {
    std::mt19937_64 random = test_random(3);
    const TemporaryFolder folder;
    save_tiff(folder / "colour.tif", noise<std::uint8_t>(3, 0, 255, random));
    write_file(folder / "text.tif", "not an image");
    const auto refused = [&](const std::vector<std::string>& texts) -> std::string {
        try {
            StageRunner(std::string("background"), texts, {23, 7, 1, PixelType::u8});
        } catch (const UsageError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_NE(refused({"dark=file"}).find("dark_file = "), std::string::npos) << refused({"dark=file"});
    EXPECT_NE(refused({"dark=file", "dark_file=" + (folder / "colour.tif")}).find("23x7"), std::string::npos);
    EXPECT_NE(refused({"flat=file", "flat_file=" + (folder / "none.tif")}).find("none.tif"),
              std::string::npos);
    EXPECT_NE(refused({"flat=file", "flat_file=" + (folder / "text.tif")}).find("not an image"),
              std::string::npos);
}

} // namespace specklescope::test::background_file_test
