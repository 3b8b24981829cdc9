// A program that answers requests continues after any input and any client, and reveals nothing.
#include "session/requests.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/curve_pair.hpp"

#include <sys/stat.h>

#include <iostream>
#include <random>

namespace specklescope::control_stranger_test {

using test::Answer;
using test::ControlClient;
using test::ControlledRun;
using test::ControlTest;
using test::Json;
using test::kScene;

std::string noise_of(std::mt19937& random, std::size_t most) {
    std::string noise(random() % most, '\0');
    for (char& c : noise)
        c = static_cast<char>(random());
    return noise;
}

/// Nearly valid requests: with arguments of all kinds, some truncated or with a changed byte.
std::string nearly(std::mt19937& random) {
    const auto& rows = all_requests();
    const Request& row = rows[random() % (rows.size() - 1)]; // the last one ends the program
    EXPECT_NE(row.name, "quit");
    Json request = {{"request", row.name}};
    const std::vector<Json> values = {Json(),
                                      -1,
                                      0,
                                      1,
                                      1e300,
                                      "speckle",
                                      "radius",
                                      "raw",
                                      true,
                                      false,
                                      Json::array(),
                                      Json::object(),
                                      "a.tiff",
                                      "speckle:radius=3",
                                      18446744073709551615ULL,
                                      "ü\n"};
    for (const RequestArgument& argument : row.arguments)
        if (random() % 4 != 0 && argument.name != "version" && argument.name != "after")
            request[argument.name] = argument.choices.empty() || random() % 3 == 0
                                         ? values[random() % values.size()]
                                         : Json(argument.choices[random() % argument.choices.size()]);
    std::string text = request.dump();
    if (random() % 3 == 0)
        text.resize(random() % text.size());
    else if (random() % 3 == 0)
        text[random() % text.size()] = static_cast<char>(random());
    return text;
}

/// For each kind of address.
class ControlDoor : public ControlTest, public testing::WithParamInterface<const char*> {
protected:
    std::unique_ptr<ControlledRun> start(std::vector<std::string> more) const {
        const std::string door = GetParam();
        more.insert(more.begin(), kScene);
        if (door == "ipc")
            return std::make_unique<ControlledRun>(more, here(), "ipc://" + (folder_ / "flow.socket"));
        if (door == "tcp")
            return std::make_unique<ControlledRun>(more, here());
        write_text(folder_ / "server.key_secret", server_.certificate(true));
        EXPECT_EQ(chmod((folder_ / "server.key_secret").c_str(), 0600), 0);
        std::filesystem::create_directory(folder_ / "clients");
        write_text(folder_ / "clients/friend.key", friend_.certificate(false));
        more.insert(more.end(), {"--curve-key", "server.key_secret", "--curve-clients", "clients"});
        auto made = std::make_unique<ControlledRun>(more, here());
        made->client = std::make_unique<ControlClient>(
            made->address, [this](zmq::socket_t& socket) { friend_.give(socket, server_); });
        return made;
    }
    const test::CurvePair server_, friend_;
};

TEST_P(ControlDoor, TenThousandRandomMessagesEndNothing) {
    const unsigned seed = std::random_device{}();
    std::cout << "seed " << seed << '\n';
    std::mt19937 random(seed);
    std::filesystem::create_directory(folder_ / "out");
    auto program = start({"--control-folder", "out"});
    for (int i = 0; i < 10'000; ++i) {
        const std::string message = i % 2 == 0     ? noise_of(random, 300)
                                    : i % 500 == 1 ? noise_of(random, 100'000)
                                                   : nearly(random);
        const Answer answer = program->client->ask_text(message);
        ASSERT_TRUE(answer.json.is_object() && answer.json.contains("ok")) << i << ": " << message;
        ASSERT_TRUE(answer.ok() || answer.error().ends_with('.') || answer.error().ends_with('?'))
            << message << " -> " << answer.error();
    }
    ASSERT_TRUE(program->ask("play").ok());
    const auto newest = program->ask("frame");
    ASSERT_TRUE(newest.ok()) << newest.error();
    EXPECT_TRUE(program->ask("frame", {{"after", newest.json["sequence"]}}).ok()) << "it goes on";
    EXPECT_EQ(program->quit().status, 0);
}

INSTANTIATE_TEST_SUITE_P(Over, ControlDoor, testing::Values("tcp", "ipc", "curve"),
                         [](const auto& door) { return std::string(door.param); });

TEST_F(ControlTest, WhoDoesNotReadOrSendsTooMuchHoldsUpNobody) {
    auto program = run();
    zmq::context_t context;
    zmq::socket_t sleeper(context, ZMQ_DEALER);
    sleeper.set(zmq::sockopt::linger, 0);
    sleeper.set(zmq::sockopt::rcvhwm, 1);
    sleeper.connect("tcp" + program->address.substr(3));
    for (int i = 0; i < 200; ++i) {
        (void)sleeper.send(zmq::message_t(), zmq::send_flags::sndmore | zmq::send_flags::dontwait);
        (void)sleeper.send(zmq::str_buffer(R"({"request":"frame","raw":true})"), zmq::send_flags::dontwait);
    }
    EXPECT_TRUE(program->ask("get").ok());
    {
        ControlClient greedy(program->address);
        greedy.wait_no_longer_than(500);
        const Answer answer = greedy.ask_text(std::string(std::size_t{100} << 20, ' '));
        EXPECT_FALSE(answer.json.is_object()) << "its connection ends";
    }
    EXPECT_TRUE(program->ask("get").ok());
    zmq::socket_t parts(context, ZMQ_REQ); // a request has one part only
    parts.set(zmq::sockopt::linger, 0);
    parts.set(zmq::sockopt::rcvtimeo, 30'000);
    parts.connect("tcp" + program->address.substr(3));
    (void)parts.send(zmq::str_buffer(R"({"request":"quit"})"), zmq::send_flags::sndmore);
    (void)parts.send(zmq::str_buffer("more"), zmq::send_flags::none);
    zmq::message_t refused;
    ASSERT_TRUE(parts.recv(refused));
    EXPECT_NE(refused.to_string().find("one part"), std::string::npos) << refused.to_string();
    EXPECT_TRUE(program->ask("get").ok());
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, AUnixSocketIsItsOwnersAndTakesNoFileAway) {
    const std::string path = folder_ / "flow.socket";
    {
        ControlledRun program({kScene}, here(), "ipc://" + path);
        struct stat file {};
        ASSERT_EQ(stat(path.c_str(), &file), 0);
        EXPECT_EQ(file.st_mode & 0077U, 0U);
        EXPECT_TRUE(program.ask("get").ok());
        const ChildResult second = run_program({"run", kScene, "--control", "ipc://" + path}, here());
        EXPECT_EQ(second.status, 1) << second.all();
        EXPECT_NE(second.err.find("listens at"), std::string::npos) << second.all();
        program.child->signal(SIGKILL);
        (void)program.child->finish();
    }
    ControlledRun again({kScene}, here(), "ipc://" + path); // a killed program left its socket here
    EXPECT_EQ(again.quit().status, 0);
    EXPECT_FALSE(std::filesystem::exists(path));
    write_text(folder_ / "precious.txt", "mine");
    const ChildResult refused =
        run_program({"run", kScene, "--control", "ipc://" + (folder_ / "precious.txt")}, here());
    EXPECT_EQ(refused.status, 1) << refused.all();
    EXPECT_EQ(read_text(folder_ / "precious.txt"), "mine");
}

TEST_F(ControlTest, TheEndOfOneProgramLeavesAnothersSocket) {
    const std::string path = folder_ / "flow.socket";
    ControlledRun first({kScene}, here(), "ipc://" + path);
    EXPECT_TRUE(first.ask("get").ok()); // answered once the scene is drawn
    std::filesystem::remove(path);
    ControlledRun second({kScene}, here(), "ipc://" + path);
    EXPECT_TRUE(second.ask("get").ok());
    first.child->signal(SIGTERM);
    EXPECT_EQ(first.child->finish().status, 0);
    ASSERT_TRUE(std::filesystem::exists(path));
    ControlClient later("ipc://" + path);
    EXPECT_TRUE(later.ask("get").ok());
    EXPECT_EQ(second.quit().status, 0);
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ControlTest, WhatASettingsFileSaysNeedsTrust) {
    for (const char* line : {"control = \"zmq://127.0.0.1:0\"", "control_folder = \"/tmp\"",
                             "metrics = \"127.0.0.1:0\"", "curve_key = \"k\"", "curve_clients = \"k\""}) {
        write_text(folder_ / "s.toml", std::string("[program]\n") + line + "\n");
        const ChildResult result =
            run_program({"run", kScene, "--frames", "3", "--config", "s.toml"}, here());
        EXPECT_EQ(result.status, 2) << result.all();
        EXPECT_NE(result.err.find("--trust"), std::string::npos) << result.err;
    }
    const ChildResult lost = run_program(
        {"run", kScene, "--frames", "3", "--control", "zmq://127.0.0.1:0", "--control-folder", "nowhere"},
        here());
    EXPECT_EQ(lost.status, 2) << lost.all();
    EXPECT_NE(lost.err.find("--control-folder"), std::string::npos) << lost.err;
}

} // namespace specklescope::control_stranger_test
