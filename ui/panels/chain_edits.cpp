#include "ui/panels/chain_edits.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace specklescope {

namespace {
void send(Session& session, Chain chain) {
    try {
        session.set_chain(std::move(chain));
    } catch (const UsageError& error) {
        session.say(Message::Level::error, error.what());
    }
}
} // namespace

std::string why_no_stage(Session& session) {
    if (!session.pipeline())
        return "No source is open.";
    return session.chain().stages().size() < static_cast<std::size_t>(kMaxStages)
               ? ""
               : "A chain holds at most " + std::to_string(kMaxStages) + " stages.";
}

void add_stage(Session& session, const StageType& type) {
    Chain chain = session.chain();
    chain.add({&type, Params(*type.table)});
    send(session, std::move(chain));
}

void remove_stage(Session& session, std::size_t index) {
    Chain chain = session.chain();
    chain.stages().erase(chain.stages().begin() + static_cast<std::ptrdiff_t>(index));
    send(session, std::move(chain));
}

void move_stage(Session& session, std::size_t from, std::size_t to) {
    Chain chain = session.chain();
    std::vector<ChainStage>& stages = chain.stages();
    const auto at = [&](std::size_t i) { return stages.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to)
        std::rotate(at(from), at(from + 1), at(to + 1));
    else
        std::rotate(at(to), at(from), at(from + 1));
    send(session, std::move(chain));
}

void bypass_stage(Session& session, std::size_t index, bool bypassed) {
    Chain chain = session.chain();
    chain.stages()[index].bypassed = bypassed;
    send(session, std::move(chain));
}

} // namespace specklescope
