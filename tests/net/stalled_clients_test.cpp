// A camera loses no frame because of a client that connects and does not read, for any output.
//
// The camera of these tests gives a frame when all sinks have processed the previous one, at any speed of
// the machine. An output that waited for its client would block forever, since no client reads. A frame
// without a free slot shows that an output has kept too many frames. Neither depends on the clock. (The time
// that outputs need is measured elsewhere.)
#include "analysis/regions_file.hpp"
#include "net/control/server.hpp"
#include "net/metrics/metrics.hpp"
#include "net/outlet.hpp"
#include "net/publisher.hpp"
#include "tests/support/rtsp_stranger.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>
#include <zmq.hpp>

#include <bit>

namespace specklescope::stalled_clients_test {

using test::eventually;

constexpr Shape kPicture{64, 48, 1, PixelType::u16};
constexpr std::uint64_t kFrames = 4000; ///< four seconds of a camera at 1000 frames/s

/// The last sink: its frames have passed all outputs.
class SecondSink final : public Sink {
public:
    void open(const StreamInfo&) override {}
    void push(const Result& result, bool may_wait) override {
        const auto made = ConstHostView(result.image.host()).as<float>();
        std::uint64_t hash = 0xCBF29CE484222325U;
        for (int y = 0; y < made.height; ++y)
            for (int x = 0; x < made.width; ++x)
                hash = (hash ^ std::bit_cast<std::uint32_t>(made.row(y)[x])) * 0x100000001B3U;
        const std::scoped_lock lock(mutex_);
        waited_for_ = waited_for_ || may_wait;
        in_order_ = in_order_ && result.info.sequence == hashes_.size();
        hashes_.push_back(hash);
        count = hashes_.size();
    }
    void close() noexcept override {}
    bool wants_host_image() const override { return true; }
    SinkStatus status() const override { return {}; }

    bool in_order() const {
        const std::scoped_lock lock(mutex_);
        return in_order_ && !waited_for_;
    }
    std::vector<std::uint64_t> hashes() const {
        const std::scoped_lock lock(mutex_);
        return hashes_;
    }
    std::atomic<std::uint64_t> count{0};

private:
    mutable std::mutex mutex_;
    std::vector<std::uint64_t> hashes_;
    bool in_order_ = true, waited_for_ = false;
};

/// An endless camera with its pipeline.
struct Camera {
    explicit Camera(const std::vector<std::shared_ptr<Sink>>& doors) {
        auto source = std::make_unique<test::ScriptedSource>(
            test::camera_info(kPicture),
            [seen = second, lost = std::uint64_t{0}](test::ScriptedSource& self, FramePort& port) mutable {
                if (self.offered > seen->count + lost) {
                    std::this_thread::sleep_for(std::chrono::microseconds(20));
                    return Source::Status::idle;
                }
                lost += self.offer(port, kPicture) ? 0 : 1;
                return Source::Status::frame;
            });
        PipelineOptions with = test::options();
        std::string regions; // for long messages
        for (int i = 0; i < 20; ++i)
            regions += (i > 0 ? "," : "") + std::string(R"({"name":"r)") + std::to_string(i) +
                       R"(","shape":"rectangle","points":[[10,8],[29,27]]})";
        with.regions = make_outlines(read_regions_json(R"({"regions":[)" + regions + "]}", "test"), false);
        pipeline = std::make_unique<Pipeline>(std::move(source), test::chain_of("speckle:radius=1"), with);
        for (const auto& door : doors)
            pipeline->add_sink(door);
        pipeline->add_sink(second);
        pipeline->start();
    }
    /// Conditions that must hold with any client.
    void expect_no_loss() const {
        const StatsSnapshot stats = pipeline->stats();
        EXPECT_EQ(stats.drops.ring, 0U) << "a door keeps frames";
        EXPECT_EQ(stats.drops.source + stats.drops.failed, 0U);
        EXPECT_EQ(stats.frames.processed, second->count);
        EXPECT_TRUE(second->in_order()) << "a number that is missing would be a drop; no sink may wait";
    }

    std::shared_ptr<SecondSink> second = std::make_shared<SecondSink>();
    std::unique_ptr<Pipeline> pipeline;
};

int port_of(const std::string& address) {
    const std::size_t colon = address.find_last_of(':');
    return std::stoi(address.substr(colon + 1));
}

/// Connects, sends something, and reads nothing.
class Silent {
public:
    Silent(int port, const std::string& words) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const int few = 4096;
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
        EXPECT_GE(::send(fd_, words.data(), words.size(), MSG_NOSIGNAL), 0);
    }
    Silent(const Silent&) = delete;
    Silent& operator=(const Silent&) = delete;
    ~Silent() { ::close(fd_); }

private:
    int fd_;
};

zmq::socket_t connected(zmq::context_t& context, zmq::socket_type type, const std::string& address) {
    zmq::socket_t made(context, type);
    made.set(zmq::sockopt::linger, 0);
    made.set(zmq::sockopt::rcvhwm, 1);
    made.set(zmq::sockopt::rcvbuf, 4096);
    if (type == zmq::socket_type::sub)
        made.set(zmq::sockopt::subscribe, "");
    made.connect("tcp" + address.substr(3));
    return made;
}

TEST(StalledClients, CostACameraNoFrame) {
    const auto publisher = std::make_shared<Publisher>("zmq://127.0.0.1:0");
    std::shared_ptr<Metrics> metrics;
    std::shared_ptr<Outlet> outlet;
    std::vector<std::shared_ptr<Sink>> doors = {Publisher::feed(publisher)};
    if (!microhttpd_version().empty()) {
        metrics = std::make_shared<Metrics>("127.0.0.1:0");
        doors.push_back(Metrics::feed(metrics));
    }
    if (!rtsp_server_version().empty()) {
        outlet = std::make_shared<Outlet>(make_rtsp_end("rtsp://127.0.0.1:0/flow"),
                                          std::make_shared<const LiveLook>(ScreenLook{}), ScreenMarks{});
        doors.push_back(Outlet::feed(outlet));
    }
    Result newest; // used by the main thread, which answers requests
    std::atomic<int> answered{0};
    ControlServer control(
        "zmq://127.0.0.1:0",
        [&](std::string_view) -> ControlWork {
            return [&]() -> std::optional<ControlReply> {
                if (!newest.image)
                    return std::nullopt;
                ++answered;
                return ControlReply{R"({"ok":true})", {newest.image, newest.raw}};
            };
        },
        nullptr);
    Camera camera(doors);
    const auto main_thread_until = [&](const std::function<bool()>& done) {
        return eventually(
            [&] {
                camera.pipeline->mailbox().take(newest);
                if (metrics)
                    metrics->tell(camera.pipeline->stats());
                control.poll();
                return done();
            },
            std::chrono::seconds(300));
    };

    zmq::context_t context;
    zmq::socket_t sleeper = connected(context, zmq::socket_type::sub, publisher->address());
    const Silent no_subscriber(port_of(publisher->address()), std::string("\xff\0\0\0\0\0\0\0\1\x7f\3", 11));
    zmq::socket_t asker = connected(context, zmq::socket_type::dealer, control.address());
    for (int i = 0; i < 200; ++i) {
        (void)asker.send(zmq::message_t(), zmq::send_flags::sndmore);
        (void)asker.send(zmq::str_buffer("frame"), zmq::send_flags::none);
    }
    std::vector<std::unique_ptr<Silent>> scrapers;
    for (int i = 0; i < 8 && metrics; ++i) {
        std::string words;
        for (int k = 0; k < 100; ++k)
            words += "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
        scrapers.push_back(std::make_unique<Silent>(port_of(metrics->address()), words));
    }
    std::unique_ptr<test::RtspStranger> watcher;
    if (outlet) {
        const std::string url = outlet->name();
        watcher = std::make_unique<test::RtspStranger>(port_of(url.substr(0, url.find("/flow"))));
        watcher->play(url);
        ASSERT_TRUE(main_thread_until([&] { return outlet->status().written > 0; })) << "he is sent pictures";
    }
    ASSERT_TRUE(main_thread_until([&] { return answered > 0; }));
    const std::uint64_t begun = camera.second->count;
    EXPECT_TRUE(main_thread_until([&] { return camera.second->count >= begun + kFrames; }))
        << "somebody is waited for: " << camera.second->count - begun << " frames came";
    camera.pipeline->stop();
    camera.expect_no_loss();
    const SinkStatus published = publisher->drained();
    EXPECT_EQ(published.written + published.dropped, camera.second->count) << "each is accounted for";
    EXPECT_EQ(published.error, "");

    // It was stalled: many messages to it were dropped.
    sleeper.set(zmq::sockopt::rcvtimeo, 2000);
    std::uint64_t got = 0;
    for (zmq::message_t message; sleeper.recv(message);)
        ++got;
    EXPECT_LT(got, published.written);

    // For comparison, the same camera without outputs.
    const Camera alone({});
    ASSERT_TRUE(eventually([&] { return alone.second->count >= kFrames; }, std::chrono::seconds(300)));
    alone.pipeline->stop();
    alone.expect_no_loss();
    const std::vector<std::uint64_t> with = camera.second->hashes(), without = alone.second->hashes();
    EXPECT_TRUE(std::equal(with.begin(), with.begin() + kFrames, without.begin()))
        << "the results are the same";
}

} // namespace specklescope::stalled_clients_test
