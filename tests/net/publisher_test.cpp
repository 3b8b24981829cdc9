// Published messages arrive at a real subscriber: the values of every frame, settings first, events; and no
// subscriber delays a run.
#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "net/publisher.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/places.hpp"
#include "tests/support/running_film.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zmq.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <iostream>
#include <random>

namespace specklescope::publisher_test {

using Json = nlohmann::json;
using test::eventually;
using test::Film;

constexpr const char* kAnyPort = "zmq://127.0.0.1:0";

class Subscriber {
public:
    explicit Subscriber(const std::string& address, const std::string& topic = "", int most = 0)
        : socket_(context_, ZMQ_SUB) {
        socket_.set(zmq::sockopt::rcvhwm, most);
        socket_.set(zmq::sockopt::rcvtimeo, 20'000);
        socket_.set(zmq::sockopt::linger, 0);
        socket_.set(zmq::sockopt::subscribe, topic);
        socket_.connect("tcp" + address.substr(3));
    }
    void wait_no_longer_than(int ms) { socket_.set(zmq::sockopt::rcvtimeo, ms); }
    /// Null after 20 s of silence.
    Json next() {
        zmq::message_t message;
        return socket_.recv(message) ? Json::parse(message.to_string()) : Json();
    }
    /// Next message of this kind; skips others.
    Json next(const std::string& content) {
        for (Json json = next(); !json.is_null(); json = next())
            if (json["content"] == content)
                return json;
        return {};
    }

private:
    zmq::context_t context_;
    zmq::socket_t socket_;
};

PipelineOptions with_regions() {
    PipelineOptions with = test::options();
    with.regions = make_outlines(read_regions_json(
                                     R"({"regions":[{"name":"box","shape":"rectangle","points":[[1,1],[5,3]]},
                           {"name":"a \"b\" ü","shape":"ellipse","points":[[2,0],[9,7]]}]})",
                                     "test"),
                                 true);
    return with;
}

void expect_number(const Json& found, double wanted) {
    if (std::isfinite(wanted))
        EXPECT_EQ(found.get<double>(), wanted);
    else
        EXPECT_TRUE(found.is_null());
}

void expect_regions(const Json& message, const RegionValues& wanted) {
    ASSERT_EQ(message["regions"].size(), wanted.statistics.size());
    for (std::size_t k = 0; k < wanted.statistics.size(); ++k) {
        const RegionStatistics& of = wanted.statistics[k];
        const Json& numbers = message["regions"][wanted.placed->regions[k].name];
        expect_number(numbers["mean"], of.mean);
        expect_number(numbers["mean_of_map"], of.mean_of_map);
        expect_number(numbers["std"], of.std);
        expect_number(numbers["min"], of.min);
        expect_number(numbers["max"], of.max);
        expect_number(numbers["median"], of.median);
        EXPECT_EQ(numbers["valid"], of.valid);
        EXPECT_EQ(numbers["infinite"], of.infinite);
        EXPECT_EQ(numbers["pixels"], of.pixels);
    }
}

TEST(Publisher, EveryFrameHasTheNumbersOfItsResult) {
    constexpr std::uint64_t kFrames = 200;
    const auto publisher = std::make_shared<Publisher>(kAnyPort);
    Film film(kFrames, "speckle:radius=1,also=contrast+mean", with_regions());
    std::mutex mutex;
    std::vector<Result> results;
    film.sink->on_push = [&](const Result& r) {
        const std::scoped_lock lock(mutex);
        results.push_back(without_pixels(r));
    };
    film.pipeline->add_sink(Publisher::feed(publisher));
    film.pipeline->pause(true);
    film.pipeline->start();
    Subscriber subscriber(publisher->address());
    const Json stream = subscriber.next("stream");
    ASSERT_FALSE(stream.is_null()) << "who comes later is told, too";
    EXPECT_EQ(stream["backend"], "cpu");
    film.pipeline->pause(false);
    std::uint64_t frames = 0, others = 0;
    Json settings;
    for (std::uint64_t i = 0; i < kFrames;) {
        const Json message = subscriber.next();
        ASSERT_FALSE(message.is_null()) << "frame " << i << " does not come";
        EXPECT_EQ(message["n"], message["content"] == "frame" ? frames++ : others++) << "counted by its kind";
        if (message["content"] == "settings")
            settings = message;
        if (message["content"] != "frame")
            continue;
        ASSERT_TRUE(eventually([&] {
            const std::scoped_lock lock(mutex);
            return results.size() > i;
        }));
        const std::scoped_lock lock(mutex);
        const Result& wanted = results[i++];
        ASSERT_FALSE(settings.is_null()) << "settings come first";
        EXPECT_EQ(message["version"], settings["version"]);
        EXPECT_EQ(message["sequence"], wanted.info.sequence);
        EXPECT_EQ(message["position"], *wanted.info.position);
        EXPECT_EQ(message["capture_ns"], wanted.info.capture_ns);
        EXPECT_EQ(message["raw_saturated"], wanted.counts.raw_saturated);
        ASSERT_EQ(wanted.regions->statistics.size(), 2U);
        expect_regions(message, *wanted.regions);
        ASSERT_EQ(message["also"].size(), 2U);
        for (const NamedImage& one : *wanted.also)
            expect_regions(message["also"][one.name], *one.regions);
        EXPECT_NE(message["also"]["mean"]["regions"], message["also"]["contrast"]["regions"]);
    }
    ASSERT_EQ(settings["also"].size(), 2U);
    EXPECT_EQ(settings["also"][0]["name"], "contrast");
    EXPECT_EQ(settings["also"][0]["symbol"], "K");
    EXPECT_EQ(settings["regions"][1]["name"], "a \"b\" ü");
    EXPECT_NE(settings["parameters"].get<std::string>().find("radius=1"), std::string::npos);
    ASSERT_TRUE(eventually([&] { return publisher->status().written == kFrames; }));
    EXPECT_EQ(publisher->status().dropped, 0U);
}

TEST(Publisher, ATopicChoosesWhatComes) {
    const auto publisher = std::make_shared<Publisher>(kAnyPort);
    Film film(50, "", with_regions());
    film.pipeline->add_sink(Publisher::feed(publisher));
    film.pipeline->pause(true);
    film.pipeline->start();
    Subscriber all(publisher->address());
    ASSERT_FALSE(all.next("stream").is_null());
    Subscriber frames(publisher->address(), R"({"content":"frame")");
    ASSERT_FALSE(all.next("stream").is_null()) << "once for each that came";
    publisher->mark({.number = 1, .sequence = 0, .capture_ns = 1'500'000'000, .label = "hand up"});
    const Json event = all.next("event");
    EXPECT_EQ(event["label"], "hand up");
    EXPECT_EQ(event["timestamp"], 1.5);
    film.pipeline->pause(false);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(frames.next()["sequence"], i);
}

TEST(Publisher, WhoDoesNotReadHoldsNothingUp) {
    constexpr std::uint64_t kFrames = 20'000;
    const auto publisher = std::make_shared<Publisher>(kAnyPort);
    Film film(kFrames, "", with_regions());
    film.pipeline->add_sink(Publisher::feed(publisher));
    film.pipeline->pause(true);
    film.pipeline->start();
    Subscriber sleeper(publisher->address(), "", 1);
    Subscriber reader(publisher->address());
    ASSERT_FALSE(sleeper.next("stream").is_null());
    ASSERT_FALSE(reader.next("stream").is_null());
    film.pipeline->pause(false);
    ASSERT_TRUE(eventually([&] { return publisher->status().written == kFrames; }));
    film.expect_accounts();
    EXPECT_EQ(film.pipeline->stats().frames.processed, kFrames);
    // Dropped messages are missing, and "n" shows the gap. An event after the last frame marks the end; it
    // may be dropped too.
    std::uint64_t got = 0;
    bool ended = false;
    reader.wait_no_longer_than(200);
    for (int tries = 0; tries < 100 && !ended; ++tries) {
        publisher->mark({.number = 1, .label = "end"});
        for (Json message = reader.next(); !message.is_null() && !ended;
             message = ended ? Json() : reader.next()) {
            if (message["content"] == "frame") {
                ++got;
                EXPECT_EQ(message["n"], message["sequence"])
                    << "all were sent: a gap in the one is one in the other";
            }
            ended = message["content"] == "event";
        }
    }
    EXPECT_TRUE(ended);
    EXPECT_GT(got, 0U);
    EXPECT_LE(got, kFrames);
}

TEST(Publisher, StrangersMayTalkToThePort) {
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    const auto publisher = std::make_shared<Publisher>(kAnyPort);
    Film film(test::kLong, "", with_regions());
    film.pipeline->add_sink(Publisher::feed(publisher));
    film.pipeline->start();
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(
        std::stoi(publisher->address().substr(publisher->address().rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int sent = 0;
    const auto noise_of = [&](std::size_t most) {
        std::string noise(random() % most, '\0');
        for (char& c : noise)
            c = static_cast<char>(random());
        return noise;
    };
    for (int i = 0; i < 500; ++i) { // clients without ZeroMQ
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        ASSERT_GE(fd, 0);
        if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
            std::string noise = noise_of(300);
            if (i % 3 == 0) // as ZMTP begins
                noise.insert(0, std::string("\xff\0\0\0\0\0\0\0\1\x7f\3", 11));
            sent += send(fd, noise.data(), noise.size(), MSG_NOSIGNAL) >= 0 ? 1 : 0;
        }
        close(fd);
    }
    EXPECT_GT(sent, 450);
    zmq::context_t context;
    zmq::socket_t talker(context, ZMQ_XSUB); // and one with ZeroMQ but invalid subscriptions
    talker.set(zmq::sockopt::linger, 0);
    talker.connect("tcp" + publisher->address().substr(3));
    for (int i = 0; i < 10'000; ++i) {
        std::string noise =
            noise_of(i % 1000 == 999 ? 100'000 : 64); // over 65 bytes: the connection is closed
        if (i % 3 == 0)
            noise.insert(0, 1, '\1');
        ASSERT_TRUE(talker.send(zmq::buffer(noise)));
    }
    Subscriber subscriber(publisher->address());
    Json before = subscriber.next("frame");
    for (int i = 0; i < 50; ++i) {
        for (int k = 0; k < 20; ++k) // and during all this
            ASSERT_TRUE(talker.send(zmq::buffer("\1" + noise_of(60))));
        const Json frame = subscriber.next("frame");
        ASSERT_FALSE(frame.is_null()) << "it goes on";
        ASSERT_GT(frame["n"].get<std::uint64_t>(), before["n"].get<std::uint64_t>());
        before = frame;
    }
    EXPECT_FALSE(Subscriber(publisher->address()).next("frame").is_null()) << "another one is served, too";
    EXPECT_EQ(publisher->status().error, "");
}

TEST(Publisher, APortThatIsTakenIsSaid) {
    const Publisher first(kAnyPort);
    try {
        const Publisher second(first.address());
        FAIL() << "two at one port";
    } catch (const RunError& error) {
        EXPECT_NE(std::string(error.what()).find(first.address()), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("another port"), std::string::npos) << error.what();
    }
}

/// A run that ends sends its pending messages before it reports their number.
TEST(PublishCommand, CountsWhatItSent) {
    const TemporaryFolder folder;
    std::string regions;
    for (int i = 0; i < 200; ++i)
        regions += (i > 0 ? "," : "") + std::string(R"({"name":"r)") + std::to_string(i) +
                   R"(","shape":"rectangle","points":[[10,8],[29,27]]})";
    test::write_file(folder / "r.json", R"({"regions":[)" + regions + "]}");
    const ChildResult run = run_program({"run", "synthetic?width=64&height=48&live=false", "--frames", "400",
                                         "--regions", "r.json", "--publish", "zmq://127.0.0.1:0"},
                                        folder.path().string());
    EXPECT_EQ(run.status, 0) << run.all();
    EXPECT_NE(run.all().find("400 frames at zmq"), std::string::npos) << run.all();
}

TEST(PublishCommand, GivesWhatTheTableOfTracesSays) {
    const TemporaryFolder folder;
    test::write_file(folder / "r.json",
                     R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
    test::write_file(folder / "listen.py", R"py(
import csv, json, subprocess, sys, zmq
program = sys.argv[1]
run = subprocess.Popen([program, "run", "synthetic?width=64&height=48&live=false", "--rate", "200",
    "--um-per-px", "2.5", "--frames", "300", "--regions", "r.json", "--traces", "t.csv", "--publish", "zmq://127.0.0.1:0"],
    stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in run.stderr:
    if "published at zmq://" in line:
        address = line.split("published at zmq")[1].strip().rstrip(".")
        break
socket = zmq.Context().socket(zmq.SUB)
socket.subscribe('{"content":"frame"')
socket.subscribe('{"content":"settings"')
socket.rcvtimeo = 20000
socket.connect("tcp" + address)
frames = []
while not frames or frames[-1]["sequence"] < 299:
    message = json.loads(socket.recv())
    if message["content"] == "settings":
        assert message["um_per_px"] == 2.5, message
        scale = message["um_per_px"]
    else:
        frames.append(message)
said = run.communicate()[0]
assert run.returncode == 0, said
assert "300 frames at zmq" in said, said
rows = {int(r["sequence"]): r for r in csv.DictReader(l for l in open("t.csv") if not l.startswith("#"))}
assert len(rows) == 300
for frame in frames:
    row, box = rows[frame["sequence"]], frame["regions"]["box"]
    for key in ("mean", "std", "min", "max", "mean_of_map"):
        assert float(row[key]) == box[key], (key, row, box)
    assert float(row["area_um2"]) == box["pixels"] * scale ** 2, row
    for key in ("valid", "infinite", "pixels"):
        assert int(row[key]) == box[key], (key, row, box)
    assert row["capture_s"].replace(".", "").lstrip("0") == str(frame["capture_ns"]).lstrip("0")
print("compared", len(frames))
)py");
    const ChildResult result =
        run_child({"/usr/bin/python3", "listen.py", test::program_path()}, folder.path().string());
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out.rfind("compared ", 0), 0U) << result.out;
}

/// A frame request returns the published values, including regions.
TEST(PublishCommand, IsWhatARequestIsTold) {
    const TemporaryFolder folder;
    test::write_file(folder / "r.json",
                     R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]},
                         {"name":"a","shape":"ellipse","points":[[2,0],[9,7]]}]})");
    test::ControlledRun program({"synthetic:vessels?width=64&height=48&rate=60", "--regions", "r.json",
                                 "--publish", "zmq://127.0.0.1:0"},
                                folder.path().string());
    Subscriber subscriber(test::told_behind(*program.child, "Results are published at "),
                          R"({"content":"frame")");
    const Json first = subscriber.next();
    ASSERT_FALSE(first.is_null());
    const auto asked = program.ask("frame", {{"after", first["sequence"]}}).json;
    const auto got = program.ask("get").json["frame"];
    ASSERT_EQ(asked["regions"].size(), 2U) << asked;
    int compared = 0;
    for (Json sent = subscriber.next(); !sent.is_null() && compared < 2; sent = subscriber.next()) {
        for (const Json& told : {asked, got})
            if (told["sequence"] == sent["sequence"]) {
                ++compared;
                for (const auto& [key, value] : sent.items())
                    if (key != "content" && key != "n" && key != "timestamp") {
                        EXPECT_EQ(told.value(key, Json()), value) << key;
                    }
            }
        if (sent["sequence"] > got["sequence"])
            break;
    }
    EXPECT_EQ(compared, 2) << asked << got;
    EXPECT_EQ(program.quit().status, 0);
}

TEST(PublishCommand, WhatASettingsFileSaysNeedsTrust) {
    const TemporaryFolder folder;
    test::write_file(folder / "s.toml", "[program]\npublish = \"zmq://127.0.0.1:0\"\n");
    const std::vector<std::string> words = {"run",          "synthetic?width=64&height=48&live=false",
                                            "--frames",     "3",
                                            "--config",     folder / "s.toml",
                                            "--no-remember"};
    ChildResult result = run_program(words, folder.path().string());
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("--trust"), std::string::npos) << result.err;
    std::vector<std::string> trusted = words;
    trusted.emplace_back("--trust");
    result = run_program(trusted, folder.path().string());
    EXPECT_EQ(result.status, 0) << result.err;
    result = run_program({"run", "synthetic?live=false", "--publish", "http://x"}, folder.path().string());
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("zmq://127.0.0.1:5556"), std::string::npos) << result.err;
}

} // namespace specklescope::publisher_test
