// A seek gives the frame that a sequential read gives there, in every kind of file except videos.
#include "sources/files/image_sequence.hpp"
#include "tests/sources/seek_helpers.hpp"

#include <sstream>

namespace specklescope::test::seek_test {

TEST_F(SeekTest, TiffStack) {
    ASSERT_NO_FATAL_FAILURE(script("t.imwrite('a.tif', frames(40), photometric='minisblack')\n"
                                   "t.imwrite('z.tif', frames(9), compression='deflate', bigtiff=True, "
                                   "photometric='minisblack')\n"
                                   "t.imwrite('one.tif', frames(1)[0])\n"));
    expect_exact_seeks(file("a.tif"), 40);
    expect_exact_seeks(file("z.tif"), 9);
    expect_exact_seeks(file("one.tif"), 1);
}

TEST_F(SeekTest, PreviewsAreNotFrames) {
    ASSERT_NO_FATAL_FAILURE(
        script("with t.TiffWriter('p.tif') as w:\n"
               "  for i, f in enumerate(frames(12)):\n"
               "    w.write(f, contiguous=False, photometric='minisblack')\n"
               "    if i in (4, 5, 9): w.write(f[::2, ::2], subfiletype=1, contiguous=False, "
               "photometric='minisblack')\n"));
    const std::vector<Delivered> all = straight(file("p.tif"));
    ASSERT_EQ(all.size(), 12U);
    const auto source = make_source(file("p.tif"), {});
    source->open();
    for (const std::uint64_t frame : {11, 3, 6, 5, 10, 0, 11}) {
        source->seek(frame, 0);
        ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, frame));
    }
}

TEST_F(SeekTest, FoldersAndNumberedFilesWithSeveralPages) {
    ASSERT_NO_FATAL_FAILURE(script("import os\nos.mkdir('d')\n"
                                   "for i, k in enumerate((1, 5, 1, 3, 2)):\n"
                                   "  t.imwrite('d/s%03d.tif' % i, frames(k), photometric='minisblack')\n"));
    expect_exact_seeks(file("d"), 12);
    expect_exact_seeks(file("d/s%03d.tif"), 12);
}

TEST_F(SeekTest, SomeOfManyFilesAreCountedAhead) {
    ASSERT_NO_FATAL_FAILURE(script("for i, k in enumerate((2, 1, 3, 1)):\n"
                                   "  t.imwrite('m%d.tif' % i, frames(k), photometric='minisblack')\n"));
    const std::vector<std::string> files = {file("m0.tif"), file("m1.tif"), file("m2.tif"), file("m3.tif")};
    ImageIndex index;
    index.count_ahead(files, {}, 2, std::chrono::milliseconds(0));
    EXPECT_EQ(index.frames(), 3U);
    EXPECT_FALSE(index.all_of(files)) << "their length is not known yet";
    index.count(files, {}, 4); // for a seek
    EXPECT_EQ(index.frames(), 6U);
    EXPECT_EQ(index.place(files, {}, 4).file, 2U);
    EXPECT_EQ(index.place(files, {}, 4).page, 1U);
    index.count_ahead(files, {}, 0, std::chrono::hours(1));
    EXPECT_EQ(index.frames(), 7U);
    EXPECT_TRUE(index.all_of(files));
}

TEST_F(SeekTest, TallImagesCutIntoFrames) {
    ASSERT_NO_FATAL_FAILURE(script("t.imwrite('tall.tif', frames(3, 60, 16), photometric='minisblack')\n"));
    expect_exact_seeks("image:" + file("tall.tif") + "?frame_height=10", 18);
}

TEST_F(SeekTest, RawWithAndWithoutHeader) {
    write_file(file("a.raw"), std::string(13, 'h') + frames_bytes(0, 30, 12 * 8));
    expect_exact_seeks("raw:" + file("a.raw") + "?width=12&height=8&header=13", 30);
    write_file(file("one.raw"), frames_bytes(0, 1, 12 * 8));
    expect_exact_seeks("raw:" + file("one.raw") + "?width=12&height=8", 1);
}

TEST_F(SeekTest, RawHasTheLineOfItsFrame) {
    write_file(file("r.raw"), frames_bytes(0, 25, 12 * 8));
    std::ostringstream lines;
    lines << R"({"program": "Specklescope 1", "content": "raw", "format": "gray8", "width": 12, "height": 8})"
          << '\n';
    for (int i = 0; i < 25; ++i)
        lines << R"({"sequence": )" << i << R"(, "capture_ns": )" << i * 1'000'000 << R"(, "exposure_ms": )"
              << 1 + 0.25 * i << "}\n";
    write_file(file("r.raw.jsonl"), lines.str());
    EXPECT_EQ(straight("raw:" + file("r.raw")).at(7).info.exposure_ms, 2.75);
    expect_exact_seeks("raw:" + file("r.raw"), 25);
    const auto source = make_source("raw:" + file("r.raw"), {});
    source->open();
    TestPort port;
    source->seek(20, 0);
    read_frames(*source, port, 1);
    source->seek(4, 0);
    read_frames(*source, port, 3);
    EXPECT_EQ(port.lost_frames, 0U) << "what lies between two seeks was not lost";
    for (std::size_t i = 1; i < port.frames.size(); ++i)
        EXPECT_GT(port.frames[i].info.capture_ns, port.frames[i - 1].info.capture_ns)
            << "the clock of a stream goes on";
}

TEST_F(SeekTest, LinesWrittenAfterTheirFramesAreFound) {
    const auto line = [](int i) {
        return R"({"sequence": )" + std::to_string(i) + R"(, "exposure_ms": )" + std::to_string(1 + i) +
               "}\n";
    };
    const std::string head =
        R"({"program": "Specklescope 1", "content": "raw", "format": "gray8", "width": 12, "height": 8})"
        "\n";
    write_file(file("r.raw"), frames_bytes(0, 12, 12 * 8));
    write_file(file("r.raw.jsonl"), head + line(0) + line(1) + line(2).substr(0, 9)); // being written
    const auto source = make_source("raw:" + file("r.raw"), {});
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 6));
    EXPECT_EQ(port.frames[1].info.exposure_ms, 2);
    for (std::size_t i = 2; i < 6; ++i)
        EXPECT_TRUE(std::isnan(port.frames[i].info.exposure_ms)) << i;
    std::string lines = head;
    for (int i = 0; i < 10; ++i)
        lines += line(i);
    std::ofstream(file("r.raw.jsonl"), std::ios::binary | std::ios::app)
        << lines.substr((head + line(0) + line(1)).size() + 9);
    ASSERT_TRUE(read_frames(*source, port, 8)); // found during reading
    EXPECT_EQ(port.frames[6].info.exposure_ms, 7);
    EXPECT_EQ(port.frames[7].info.exposure_ms, 8);
    for (const int frame : {3, 2, 9, 5, 11, 4, 0}) {
        source->seek(static_cast<std::uint64_t>(frame), 0);
        TestPort there;
        ASSERT_TRUE(read_frames(*source, there, 1));
        if (frame < 10)
            EXPECT_EQ(there.frames[0].info.exposure_ms, 1 + frame) << frame;
        else
            EXPECT_TRUE(std::isnan(there.frames[0].info.exposure_ms)) << "no line yet";
    }
}

TEST_F(SeekTest, SimulatedScenesThatAreNotLive) {
    expect_exact_seeks("synthetic:vessels?width=48&height=32&frames=30&live=false&rate=0", 30);
    const auto live = make_source(std::string("synthetic:static?width=48&height=32"), {});
    EXPECT_FALSE(live->open().seekable);
    EXPECT_NE(refusal(*live, 3).find("live=false"), std::string::npos);
    const auto endless =
        make_source(std::string("synthetic:static?width=48&height=32&live=false&rate=0"), {});
    const SourceInfo info = endless->open();
    EXPECT_TRUE(info.seekable);
    EXPECT_EQ(info.length, 0U);
    endless->seek(1'000'000, 0);
    TestPort port;
    ASSERT_TRUE(read_frames(*endless, port, 1));
    EXPECT_EQ(port.frames[0].info.position, std::uint64_t{1'000'000});
}

TEST_F(SeekTest, FilesThatGrow) {
    const std::string raw = "raw:" + file("g.raw") + "?width=12&height=8";
    write_file(file("g.raw"), frames_bytes(0, 5, 12 * 8));
    const auto source = make_source(raw, {});
    EXPECT_EQ(source->open().length, 5U);
    EXPECT_NE(refusal(*source, 7).find("0…4"), std::string::npos);
    std::ofstream(file("g.raw"), std::ios::binary | std::ios::app) << frames_bytes(5, 4, 12 * 8) << "half";
    source->seek(7, 0);
    EXPECT_EQ(source->length(), 9U);
    std::vector<Delivered> all;
    {
        const auto whole = make_source(raw, {});
        whole->open();
        TestPort port;
        EXPECT_THROW(read_frames(*whole, port), RunError); // the frame being written
        all = std::move(port.frames);
    }
    ASSERT_EQ(all.size(), 9U);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 7));
    EXPECT_NE(refusal(*source, 9).find("0…8"), std::string::npos) << "half a frame is none";

    ASSERT_NO_FATAL_FAILURE(script("f = frames(9)\nt.imwrite('g.tif', f[:4], photometric='minisblack')\n"
                                   "n.save('f.npy', f)\n"));
    const auto stack = make_source(file("g.tif"), {});
    EXPECT_EQ(stack->open().length, 4U);
    TestPort end;
    ASSERT_TRUE(read_frames(*stack, end));
    EXPECT_NE(refusal(*stack, 4).find("0…3"), std::string::npos);
    ASSERT_NO_FATAL_FAILURE(
        script("t.imwrite('g.tif', n.load('f.npy')[4:], append=True, photometric='minisblack')\n"));
    stack->seek(6, 0);
    EXPECT_EQ(stack->length(), 9U);
    ASSERT_NO_FATAL_FAILURE(expect_next(*stack, straight(file("g.tif")), 6));
}

TEST_F(SeekTest, TruncatedFilesExtendToTheTruncation) {
    write_file(file("c.raw"), frames_bytes(0, 5, 12 * 8).substr(0, 4 * 96 + 11));
    const auto raw = make_source("raw:" + file("c.raw") + "?width=12&height=8", {});
    EXPECT_EQ(raw->open().length, 4U);
    TestPort port;
    EXPECT_THROW(read_frames(*raw, port), RunError);
    EXPECT_NE(refusal(*raw, 4).find("0…3"), std::string::npos);
    raw->seek(2, 0); // also after the error
    ASSERT_NO_FATAL_FAILURE(expect_next(*raw, port.frames, 2));

    ASSERT_NO_FATAL_FAILURE(
        script("with t.TiffWriter('c.tif') as w:\n"
               "  for f in frames(12): w.write(f, contiguous=False, photometric='minisblack')\n"));
    const std::vector<Delivered> all = straight(file("c.tif"));
    cut_file(file("c.tif"), std::filesystem::file_size(file("c.tif")) * 6 / 10);
    const auto cut = make_source(file("c.tif"), {});
    const std::uint64_t there = cut->open().length;
    ASSERT_GT(there, 4U);
    ASSERT_LT(there, 12U);
    EXPECT_NE(refusal(*cut, 11).find("has no frame 11"), std::string::npos);
    for (const std::uint64_t frame : {there - 2, std::uint64_t{0}, std::uint64_t{3}}) {
        cut->seek(frame, 0);
        ASSERT_NO_FATAL_FAILURE(expect_next(*cut, all, frame));
    }
}

TEST_F(SeekTest, PrecedingFramesAreDueImmediately) {
    write_file(file("a.raw"), frames_bytes(0, 30, 12 * 8));
    const auto source = make_source("raw:" + file("a.raw") + "?width=12&height=8&rate=0.01", {});
    source->open();
    TestPort port;
    source->seek(10, 7); // 8 frames, at 100 s per frame
    const auto begin = SteadyClock::now();
    ASSERT_TRUE(read_frames(*source, port, 8));
    EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(50));
    EXPECT_EQ(source->next(port), Source::Status::idle) << "the next one waits for its time";
}

TEST_F(SeekTest, AFrameThatNoRunCanPassEndsTheRun) {
    ASSERT_NO_FATAL_FAILURE(script("import os\nos.mkdir('d')\n"
                                   "t.imwrite('d/a.tif', frames(1, 60, 16)[0], photometric='minisblack')\n"
                                   "t.imwrite('d/b.tif', frames(1, 55, 16)[0], photometric='minisblack')\n"));
    const auto source = make_source("image:" + file("d") + "?frame_height=10", {});
    source->open();
    TestPort port;
    ASSERT_TRUE(read_frames(*source, port, 6));
    try {
        source->seek(8, 0);
        FAIL() << "no error";
    } catch (const RunError& error) { // a usage error would leave the source unchanged
        EXPECT_NE(std::string(error.what()).find("frame_height = 10 does not divide the 55 rows"),
                  std::string::npos)
            << error.what();
    }
    source->seek(2, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, port.frames, 2));
}

TEST_F(SeekTest, ADeletedRawFileCanStillBeRead) {
    const std::string path = file("a.raw");
    write_file(path, frames_bytes(0, 9, 12 * 8));
    const std::vector<Delivered> all = straight("raw:" + path + "?width=12&height=8");
    const auto source = make_source("raw:" + path + "?width=12&height=8", {});
    source->open();
    std::filesystem::remove(path);
    source->seek(5, 0);
    ASSERT_NO_FATAL_FAILURE(expect_next(*source, all, 5));
    EXPECT_NE(refusal(*source, 9).find("0…8"), std::string::npos);
}

} // namespace specklescope::test::seek_test
