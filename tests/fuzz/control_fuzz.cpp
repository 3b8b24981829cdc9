// Requests of other programs: each is answered by JSON with ok or with an error; a refused request changes
// nothing, and no request names a file unless that is allowed.
// Parser: session/requests.cpp session/requests_get.cpp session/requests_edit.cpp
// Parser: session/requests_keep.cpp session/requests_presets.cpp files/json_object.cpp
#include "session/requests.hpp"
#include "tests/fuzz/support.hpp"
#include "tests/support/idle_host.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::fuzz {
namespace {

class Host final : public test::IdleHost {
public:
    void act(Action action, const std::string& folder) override {
        demand(info(action).files == ActionFiles::none && folder.empty(), "files are written or read");
    }
};

void check(std::string_view message) {
    Host host;
    const std::string before = host.state();
    std::optional<ControlReply> reply;
    const std::string refusal = sentence_of(message.size(), false, [&] {
        const ControlWork work = read_request(message, host.session, host);
        reply = work();
    });
    if (!refusal.empty())
        return demand(host.state() == before, "a request that was refused changed something: " + refusal);
    if (!reply)
        return; // it waits for frames
    const auto json = nlohmann::json::parse(reply->text, nullptr, false);
    demand(json.is_object() && json.value("ok", false), "the answer is none: " + reply->text.substr(0, 200));
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
