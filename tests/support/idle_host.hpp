// Session whose pipeline is not started: edits are stored, and there are no frames.
#pragma once

#include "base/error.hpp"
#include "pipeline/chain.hpp"
#include "session/requests.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace specklescope::test {

/// Never opened.
class NoSource final : public Source {
public:
    SourceInfo open() override { throw RunError("It is never opened."); }
    Status next(FramePort&) override { return Status::end; }
    void close() override {}
};

class IdleHost : public RequestFront {
public:
    IdleHost() : session(settings_of_two(), false) {
        session.adopt(std::make_shared<Pipeline>(std::make_unique<NoSource>(), settings_of_two().chain,
                                                 PipelineOptions{}));
    }
    static Settings settings_of_two() {
        Settings settings;
        settings.chain.add("background");
        settings.chain.add("speckle:radius=2");
        return settings;
    }
    std::optional<Result> newest(bool) override { return std::nullopt; }
    void act(Action, const std::string&) override {}
    void quit() override {}

    std::string state() {
        return to_toml(session.settings_now()) + std::to_string(session.um_per_px(session.chain())) +
               std::to_string(session.regions.regions().size()) +
               std::to_string(session.pipeline()->version());
    }

    Session session;
};

} // namespace specklescope::test
