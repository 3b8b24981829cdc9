// Metrics for Prometheus: the counts of the run in its format, with any behaviour of clients.
#include "base/error.hpp"
#include "net/metrics/metrics.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/running_film.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <thread>

namespace specklescope::metrics_test {

using test::eventually;

/// A TCP client that can send any text.
class Tcp {
public:
    explicit Tcp(const std::string& address) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const timeval most{.tv_sec = 30, .tv_usec = 0};
        setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        connected_ = connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    }
    Tcp(const Tcp&) = delete;
    Tcp& operator=(const Tcp&) = delete;
    ~Tcp() { close(fd_); }
    bool connected() const { return connected_; }
    void say(const std::string& text) const { (void)send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
    std::string all() const {
        std::string text;
        char buffer[4096];
        for (ssize_t n = 0; (n = recv(fd_, buffer, sizeof buffer, 0)) > 0;)
            text.append(buffer, static_cast<std::size_t>(n));
        return text;
    }

private:
    int fd_;
    bool connected_ = false;
};

std::string fetched(const std::string& address, const std::string& request = "GET /metrics HTTP/1.1") {
    const Tcp client(address);
    client.say(request + "\r\nHost: x\r\nConnection: close\r\n\r\n");
    return client.all();
}

/// "name{labels}" → value. Fails for invalid lines.
std::map<std::string, double> values_in(const std::string& answer) {
    std::map<std::string, double> values;
    std::set<std::string> described;
    std::istringstream lines(answer.substr(answer.find("\r\n\r\n") + 4));
    const std::regex sample(R"(([a-z_]+)(\{[a-z]+="[^"\\]*"(,[a-z]+="[^"\\]*")*\})? (\S+))");
    const std::regex comment(R"(# (HELP ([a-z_]+) .+|TYPE ([a-z_]+) (counter|gauge|histogram)))");
    for (std::string line; std::getline(lines, line);) {
        std::smatch parts;
        if (std::regex_match(line, parts, comment)) {
            if (parts[3].matched) {
                EXPECT_TRUE(described.insert(parts[3]).second) << "told twice: " << line;
            }
            if (parts[4] == "counter") {
                EXPECT_TRUE(parts[3].str().ends_with("_total")) << line;
            }
            continue;
        }
        EXPECT_TRUE(std::regex_match(line, parts, sample)) << line;
        const std::string name = std::regex_replace(parts[1].str(), std::regex("_(bucket|sum|count)$"), "");
        EXPECT_TRUE(described.contains(name)) << "not described: " << line;
        values[parts[1].str() + parts[2].str()] = std::stod(parts[4]);
    }
    return values;
}

TEST(Metrics, TellTheCountsOfTheRun) {
    constexpr std::uint64_t kFrames = 120;
    const auto metrics = std::make_shared<Metrics>("127.0.0.1:0");
    test::Film film(kFrames, "speckle:radius=1", test::options());
    film.pipeline->add_sink(Metrics::feed(metrics));
    film.pipeline->start();
    ASSERT_TRUE(eventually([&] { return film.pipeline->finished(); }));
    StatsSnapshot stats = film.pipeline->stats();
    stats.drops.source = 3; // a file has no losses
    stats.drops.ring = 5;
    stats.drops.recorder = 7;
    metrics->tell(stats);
    const std::string answer = fetched(metrics->address());
    EXPECT_EQ(answer.rfind("HTTP/1.1 200", 0), 0U) << answer;
    EXPECT_NE(answer.find("text/plain; version=0.0.4"), std::string::npos) << answer;
    const auto values = values_in(answer);
    EXPECT_EQ(values.at("specklescope_frames_acquired_total"), kFrames);
    EXPECT_EQ(values.at("specklescope_frames_processed_total"), kFrames);
    EXPECT_EQ(values.at("specklescope_frames_failed_total"), 0);
    EXPECT_EQ(values.at(R"(specklescope_frames_dropped_total{cause="source"})"), 3);
    EXPECT_EQ(values.at(R"(specklescope_frames_dropped_total{cause="slots"})"), 5);
    EXPECT_EQ(values.at(R"(specklescope_frames_dropped_total{cause="recorder"})"), 7);
    EXPECT_EQ(values.at("specklescope_latency_seconds_count"), kFrames);
    EXPECT_EQ(values.at(R"(specklescope_latency_seconds_bucket{le="+Inf"})"), kFrames);
    EXPECT_GT(values.at("specklescope_latency_seconds_sum"), 0);
    EXPECT_EQ(values.at("specklescope_raw_samples_total"),
              static_cast<double>(stats.counts.total.raw_samples));
}

TEST(Metrics, LatenciesFallIntoTheirBuckets) {
    LatencyCounts latency;
    for (const double seconds : {0.0001, 0.0005, 0.0006, 0.3, 0.3, 100.0})
        latency.add(seconds);
    const auto values = values_in("\r\n\r\n" + metrics_text({}, latency));
    const auto below = [&](const char* end) {
        return values.at("specklescope_latency_seconds_bucket{le=\"" + std::string(end) + "\"}");
    };
    EXPECT_EQ(below("0.0005"), 2) << "its end belongs to a bucket";
    EXPECT_EQ(below("0.001"), 3);
    EXPECT_EQ(below("0.25"), 3);
    EXPECT_EQ(below("0.5"), 5);
    EXPECT_EQ(below("5"), 5);
    EXPECT_EQ(below("+Inf"), 6);
    EXPECT_NEAR(values.at("specklescope_latency_seconds_sum"), 100.6012, 1e-6);
    EXPECT_EQ(values.at("specklescope_latency_seconds_count"), 6);
}

TEST(Metrics, OnlyTheirPageIsThereAndOnlyToBeRead) {
    const Metrics metrics("127.0.0.1:0");
    EXPECT_EQ(fetched(metrics.address(), "GET / HTTP/1.1").rfind("HTTP/1.1 404", 0), 0U);
    EXPECT_EQ(fetched(metrics.address(), "POST /metrics HTTP/1.1").rfind("HTTP/1.1 405", 0), 0U);
    EXPECT_EQ(fetched(metrics.address(), "DELETE /metrics HTTP/1.1").rfind("HTTP/1.1 405", 0), 0U);
    EXPECT_THROW(Metrics(metrics.address()), RunError) << "two at one port";
}

TEST(Metrics, StrangersAndIdlersHoldUpNobody) {
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    const Metrics metrics("127.0.0.1:0");
    for (int i = 0; i < 10'000; ++i) {
        const Tcp client(metrics.address());
        std::string noise(random() % 300, '\0');
        for (char& c : noise)
            c = static_cast<char>(random());
        if (i % 2 == 0)
            noise.insert(0, "GET /metrics HTTP/1.1\r\n");
        client.say(noise);
    }
    std::vector<std::unique_ptr<Tcp>> idlers; // more than the limit; they are disconnected
    for (int i = 0; i < 40; ++i)
        idlers.push_back(std::make_unique<Tcp>(metrics.address()));
    EXPECT_TRUE(eventually([&] { return fetched(metrics.address()).rfind("HTTP/1.1 200", 0) == 0; },
                           std::chrono::seconds(60)));
}

/// Each request sends data regularly but never ends.
TEST(Metrics, RequestsThatNeverEndHoldUpNobody) {
    const Metrics metrics("127.0.0.1:0");
    std::vector<std::unique_ptr<Tcp>> trickling;
    for (int i = 0; i < 16; ++i) {
        trickling.push_back(std::make_unique<Tcp>(metrics.address()));
        trickling.back()->say("GET /metrics HTTP/1.1\r\nX-Slow: ");
    }
    std::jthread trickle([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            for (const auto& client : trickling)
                client->say("a");
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        }
    });
    EXPECT_TRUE(eventually([&] { return fetched(metrics.address()).rfind("HTTP/1.1 200", 0) == 0; },
                           std::chrono::seconds(60)));
}

TEST(MetricsCommand, TellsOfARunThatGoesOn) {
    const TemporaryFolder folder;
    Child program(
        {test::program_path(), "run", "synthetic?width=64&height=48&rate=100", "--metrics", "127.0.0.1:0"},
        folder.path().string());
    const std::string url = test::told_behind(program, "Metrics are told at http://");
    ASSERT_FALSE(url.empty());
    const std::string address = url.substr(0, url.find('/'));
    const auto processed = [&] { return values_in(fetched(address))["specklescope_frames_processed_total"]; };
    ASSERT_TRUE(eventually([&] { return processed() > 5; }));
    const double before = processed();
    ASSERT_TRUE(eventually([&] { return processed() > before; }));
    program.signal(SIGINT);
    EXPECT_EQ(program.finish().status, 0);
}

} // namespace specklescope::metrics_test
