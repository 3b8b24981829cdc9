// Requests of other programs (--control) to a session. Each request is one row, declared next to its function
// in requests_get.cpp, requests_edit.cpp, requests_keep.cpp or requests_presets.cpp; parsing, checks, the
// list of requests and the JSON Schema walk the rows.
#pragma once

#include "config/keys/actions.hpp"
#include "net/control/server.hpp"
#include "session/session.hpp"

#include <nlohmann/json_fwd.hpp>

namespace specklescope {

enum class ArgumentType : std::uint8_t {
    text,
    choice, ///< one of RequestArgument::choices
    boolean,
    whole, ///< 0, 1, 2 …
    number,
    value,   ///< text, number or boolean: any value of a parameter, as on the command line
    values,  ///< an object with such a value for each parameter
    stage,   ///< its name, or its place in the chain from 0
    regions, ///< a list, as in a file of regions
};

struct RequestArgument {
    std::string name;
    ArgumentType type = ArgumentType::text;
    bool required = true;
    std::string doc;
    std::vector<std::string> choices{};
};

/// Window or headless run, as requests need it besides the session.
class RequestFront {
public:
    virtual ~RequestFront() = default;
    /// `pixels`: with pixels on the host; nothing before they are there.
    virtual std::optional<Result> newest(bool pixels) = 0;
    /// Runs an action of the window, with files in this folder. Throws UsageError.
    virtual void act(Action action, const std::string& folder) = 0;
    virtual void quit() = 0;
};

/// State of a request that is not answered at once.
struct RequestProgress {
    SteadyClock::time_point begun = SteadyClock::now();
    bool opens = false;
    std::uint64_t seek = 0; ///< Pipeline::seek(); 0: not yet requested
    std::future<std::string> file;
    std::shared_ptr<Sink> sink;

    /// Throws RunError after 10 s without the result that is waited for.
    void check_time() const;
};

struct Call {
    Session& session;
    RequestFront& front;
    const nlohmann::json& arguments; ///< as declared
    RequestProgress& progress;

    Pipeline& pipeline() const; ///< throws RunError if no source is open
};

struct Request {
    std::string name, doc;
    std::vector<RequestArgument> arguments;
    /// Carries it out; nothing: not done yet, call again. Throws Error.
    std::optional<ControlReply> (*answer)(const Call&);
};
/// The last one is "quit".
const std::vector<Request>& all_requests();
/// All of them as JSON Schema (2020-12).
std::string control_schema();

/// Parses and checks a message. The work runs on the session's thread. Throws UsageError.
ControlWork read_request(std::string_view message, Session& session, RequestFront& front);

/// Takes requests at the address of --control.
class RequestServer {
public:
    static bool wanted(const Settings& settings) { return !output_of(settings, "control").empty(); }
    /// `wake` (null: none) is called from any thread when a request arrives. Throws UsageError or RunError.
    RequestServer(Session& session, RequestFront& front, void (*wake)());
    /// Carries out the requests that came.
    void poll();
    /// Waits for a request, at most this long.
    void wait(std::chrono::milliseconds most) { server_.wait(most); }
    void close(); ///< answers nothing any more
    ControlCounts counts() const { return server_.counts(); }
    std::string address() const { return server_.address(); }

private:
    Session& session_;
    ControlServer server_;
};

} // namespace specklescope
