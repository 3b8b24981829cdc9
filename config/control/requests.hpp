// The requests of --control, declared once: what is understood, carried out and told in --control-schema.
#pragma once

#include "config/control/host.hpp"
#include "net/control/server.hpp"

#include <nlohmann/json_fwd.hpp>

#include <future>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

enum class ControlType : std::uint8_t {
    text,
    choice, ///< one of ControlArgument::choices
    boolean,
    whole, ///< 0, 1, 2 …
    number,
    value,   ///< text, number or boolean: whatever a parameter takes, as on the command line
    values,  ///< an object with one of them for each parameter
    stage,   ///< its name, or its place in the chain from 0
    regions, ///< a list, as in a file of regions
};

struct ControlArgument {
    std::string name;
    ControlType type = ControlType::text;
    bool required = true;
    std::string doc;
    std::vector<std::string> choices{};
};

/// What a request that takes longer keeps between two looks at it.
struct ControlProgress {
    SteadyClock::time_point begun = SteadyClock::now();
    bool opens = false;
    std::uint64_t seek = 0; ///< Pipeline::seek(); 0: not yet asked for
    std::future<std::string> file;
    std::shared_ptr<Sink> sink;

    /// Of a result that is waited for. Throws RunError after 10 s.
    void give_up_in_time() const;
};

struct ControlRow {
    std::string name, doc;
    std::vector<ControlArgument> arguments;
    /// Carries it out, its arguments are as declared; nothing: not done yet. Throws Error.
    std::optional<ControlReply> (*answer)(ControlHost&, const nlohmann::json& arguments, ControlProgress&);
};
const std::vector<ControlRow>& control_rows();

/// All of them as JSON Schema (2020-12).
std::string control_schema();

/// A message as a request to `host`, which is asked when the work is done. Throws UsageError.
ControlWork read_request(std::string_view message, ControlHost& host);

/// Of --control; null without. Throws UsageError or RunError.
std::unique_ptr<ControlServer> make_control(ControlHost& host, void (*wake)());

} // namespace specklescope
