// A password is sent only to the camera, never to clients.
#include "tests/sources/rtsp_server.hpp"
#include "tests/support/control_client.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <set>

namespace specklescope::secret_answers_test {

using test::Answer;
using test::ControlledRun;
using test::Json;

constexpr const char* kPassword = "geheim4711";
constexpr const char* kToken = "tok-98-tok";
constexpr const char* kShown = "rtsp://user:***@127.0.0.1";

void expect_hidden(const std::string& text, const std::string& what) {
    EXPECT_EQ(text.find(kPassword), std::string::npos) << what << ": " << text;
    EXPECT_EQ(text.find(kToken), std::string::npos) << what << ": " << text;
}

/// `specklescope run` of a camera with a password.
class SecretAnswers : public testing::Test {
protected:
    std::unique_ptr<ControlledRun> run(std::vector<std::string> more = {}) const {
        more.insert(more.begin(), "rtsp://user:" + std::string(kPassword) + "@" + camera_.url().substr(7) +
                                      "?token=" + kToken);
        more.emplace_back("--verbose");
        return std::make_unique<ControlledRun>(more, folder_.path().string());
    }
    TemporaryFolder folder_;
    test::RtspServer camera_{
        "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=50/1"};
};

TEST_F(SecretAnswers, NoAnswerHoldsThePassword) {
    std::filesystem::create_directory(folder_ / "out");
    auto program = run({"--control-folder", "out"});
    const auto asked = [&](const char* request, const Json& arguments = Json::object()) {
        const Answer answer = program->ask(request, arguments);
        EXPECT_TRUE(answer.json.is_object()) << request << " is not answered";
        std::string all = answer.json.dump();
        for (const std::string& part : answer.parts)
            all += part;
        expect_hidden(all, request);
        return all;
    };
    // The first frame shows that the camera is open; messages come with it.
    EXPECT_NE(asked("frame", {{"raw", true}}).find("\"ok\":true"), std::string::npos);
    std::set<std::string> that_tell;
    for (const char* request : {"get", "list", "stats", "messages", "frame", "regions"})
        if (asked(request).find(kShown) != std::string::npos)
            that_tell.insert(request);
    EXPECT_TRUE(that_tell.contains("get") && that_tell.contains("stats"))
        << "they name the source without it";
    // Errors do not contain it either.
    const std::string other = "rtsp://user:" + std::string(kPassword) + "@127.0.0.1:1/x";
    for (const Json& arguments : {Json{{"source", other}}, Json{{"source", "gst:x user-pw=" + other}}})
        asked("open", arguments);
    asked("set_source", {{"key", "location"}, {"value", 3}});
    asked("get", {{"stage", "location"}});
    // Nor do files written during the run.
    for (const auto& [what, file] :
         {std::pair{"results", "r.tiff"}, {"raw", "r.raw"}, {"traces", "t.csv"}, {"screen", "s.mkv"}})
        asked("record", {{"what", what}, {"file", file}});
    asked("snapshot", {{"file", "s.png"}});
    asked("get");
    const ChildResult end = program->quit();
    EXPECT_EQ(end.status, 0) << end.all();
    expect_hidden(end.all(), "what is said");
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out"))
        expect_hidden(read_text(entry.path().string()), entry.path().string());
    EXPECT_NE(read_text(folder_ / "out/r.tiff").find(kShown), std::string::npos) << end.all();
}

TEST_F(SecretAnswers, NoSubscriberHearsThePassword) {
    auto program = run({"--publish", "zmq://127.0.0.1:0"});
    const std::string address = test::told_behind(*program->child, "Results are published at ");
    ASSERT_FALSE(address.empty()) << program->child->so_far().all();
    zmq::context_t context;
    zmq::socket_t socket(context, ZMQ_SUB);
    socket.set(zmq::sockopt::rcvtimeo, 20'000);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::subscribe, "");
    socket.connect("tcp" + address.substr(3));
    std::set<std::string> contents;
    std::string all;
    for (int messages = 0; messages < 500 && !(contents.contains("frame") && contents.contains("event"));
         ++messages) {
        zmq::message_t message;
        ASSERT_TRUE(socket.recv(message)) << "nothing comes behind " << all;
        const std::string text = message.to_string();
        expect_hidden(text, "message");
        all += text + "\n";
        const std::string content = Json::parse(text).value("content", "");
        if (content == "frame" && !contents.contains(content)) {
            EXPECT_TRUE(program->ask("mark", {{"label", "stimulus"}}).ok());
        }
        contents.insert(content);
    }
    for (const char* content : {"stream", "settings", "frame", "event"})
        EXPECT_TRUE(contents.contains(content)) << content << " in " << all;
    EXPECT_NE(all.find(kShown), std::string::npos) << "the stream's source is named without it: " << all;
    expect_hidden(program->quit().all(), "what is said");
}

std::string page_at(const std::string& address) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval most{.tv_sec = 30, .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    std::string text;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
        const std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        (void)send(fd, request.data(), request.size(), MSG_NOSIGNAL);
        char buffer[4096];
        for (ssize_t n = 0; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
            text.append(buffer, static_cast<std::size_t>(n));
    }
    close(fd);
    return text;
}

TEST_F(SecretAnswers, NoPageOfMetricsHoldsThePassword) {
    auto program = run({"--metrics", "127.0.0.1:0"});
    const std::string address = test::told_behind(*program->child, "Metrics are told at http://");
    ASSERT_FALSE(address.empty()) << program->child->so_far().all();
    ASSERT_TRUE(program->ask("frame").ok());
    const std::string page = page_at(address);
    EXPECT_NE(page.find("specklescope_"), std::string::npos) << page;
    expect_hidden(page, "metrics");
    expect_hidden(program->quit().all(), "what is said");
}

} // namespace specklescope::secret_answers_test
