// A client for programs running with --control.
#pragma once

#include "tests/support/child.hpp"
#include "tests/support/places.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zmq.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace specklescope::test {

using Json = nlohmann::json;

/// One answer: its JSON, and the parts after it.
struct Answer {
    Json json;
    std::vector<std::string> parts;
    bool ok() const { return json.is_object() && json.value("ok", false); }
    std::string error() const { return json.is_object() ? json.value("error", "") : "no answer"; }
};

class ControlClient {
public:
    /// `prepare` (may be empty): configures its sockets before they connect (keys).
    explicit ControlClient(const std::string& address, std::function<void(zmq::socket_t&)> prepare = {})
        : endpoint_(address.rfind("zmq", 0) == 0 ? "tcp" + address.substr(3) : address),
          prepare_(std::move(prepare)) {
        connect();
    }
    /// After 30 s of silence returns an answer without an object; the next request starts again.
    Answer ask_text(const std::string& message) {
        (void)socket_->send(zmq::buffer(message), zmq::send_flags::none);
        Answer answer;
        zmq::message_t part;
        if (!socket_->recv(part)) {
            connect();
            return answer;
        }
        answer.json = Json::parse(part.to_string_view(), nullptr, false);
        while (socket_->get(zmq::sockopt::rcvmore)) {
            (void)socket_->recv(part);
            answer.parts.push_back(part.to_string());
        }
        return answer;
    }
    Answer ask(const Json& request) { return ask_text(request.dump()); }
    Answer ask(const char* name) { return ask(std::string(name)); }
    Answer ask(const std::string& name, Json arguments = Json::object()) {
        arguments["request"] = name;
        return ask(arguments);
    }
    /// Does not wait for an answer.
    void only_ask(const std::string& message) {
        (void)socket_->send(zmq::buffer(message), zmq::send_flags::none);
    }
    bool is_answered() {
        zmq::message_t part;
        return static_cast<bool>(socket_->recv(part, zmq::recv_flags::dontwait));
    }
    void wait_no_longer_than(int ms) {
        most_ms_ = ms;
        connect();
    }

private:
    void connect() {
        socket_ = std::make_unique<zmq::socket_t>(context_, ZMQ_REQ);
        socket_->set(zmq::sockopt::linger, 0);
        socket_->set(zmq::sockopt::rcvtimeo, most_ms_);
        if (prepare_)
            prepare_(*socket_);
        socket_->connect(endpoint_);
    }
    zmq::context_t context_;
    std::string endpoint_;
    std::function<void(zmq::socket_t&)> prepare_;
    int most_ms_ = 30'000;
    std::unique_ptr<zmq::socket_t> socket_;
};

/// Waits for `words` in a program's output; returns the text after them to the end of the sentence.
inline std::string told_behind(Child& child, const std::string& words) {
    std::string found;
    (void)child.until(
        [&](const ChildResult& result) {
            const std::size_t at = result.err.find(words);
            const std::size_t end =
                at == std::string::npos ? at : result.err.find_first_of(" \n", at + words.size());
            if (end != std::string::npos)
                found = result.err.substr(at + words.size(), end - at - words.size());
            return end != std::string::npos;
        },
        std::chrono::seconds(60));
    while (!found.empty() && found.back() == '.')
        found.pop_back();
    return found;
}

/// `specklescope run` with --control on its own port.
class ControlledRun {
public:
    /// `program`: the command before the words, if it is not the run.
    explicit ControlledRun(std::vector<std::string> words, const std::string& folder,
                           const std::string& at = "zmq://127.0.0.1:0",
                           const std::vector<std::string>& program = {program_path(), "run"}) {
        words.insert(words.begin(), program.begin(), program.end());
        words.insert(words.end(), {"--control", at});
        child = std::make_unique<Child>(words, folder);
        address = told_behind(*child, "Requests are answered at ");
        if (address.empty())
            throw std::runtime_error("it does not answer: " + child->finish(std::chrono::seconds(5)).all());
        client = std::make_unique<ControlClient>(address);
    }
    Answer ask(const std::string& name, Json arguments = Json::object()) {
        return client->ask(name, std::move(arguments));
    }
    /// Ends it by a request.
    ChildResult quit() {
        EXPECT_TRUE(ask("quit").ok());
        return child->finish();
    }

    std::unique_ptr<Child> child;
    std::string address;
    std::unique_ptr<ControlClient> client;
};

/// Arguments before those of a window without a display.
inline std::vector<std::string> offscreen_window() {
    return {"env",          "LIBGL_ALWAYS_SOFTWARE=1",
            program_path(), "view",
            "--offscreen",  "--no-remember",
            "--view",       "width=640",
            "--view",       "height=480"};
}

inline constexpr const char* kScene = "synthetic:vessels?width=64&height=48&rate=200";

class ControlTest : public testing::Test {
protected:
    std::string here() const { return folder_.path().string(); }
    std::unique_ptr<ControlledRun> run(std::vector<std::string> more = {}) const {
        more.insert(more.begin(), kScene);
        return std::make_unique<ControlledRun>(std::move(more), here());
    }
    TemporaryFolder folder_;
};

} // namespace specklescope::test
