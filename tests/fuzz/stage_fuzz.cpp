// Stage texts, one per line: a chain printed and parsed again is equal.
// Parser: pipeline/chain.cpp pipeline/param.cpp
#include "pipeline/chain.hpp"
#include "tests/fuzz/support.hpp"

namespace specklescope::fuzz {
namespace {

bool same(const ChainStage& a, const ChainStage& b) {
    if (a.type != b.type)
        return false;
    for (const ParamDecl& decl : a.type->table->decls())
        if (decl.kind != ParamKind::action && a.params.get(decl.name) != b.params.get(decl.name))
            return false;
    return true;
}

void check(std::string_view bytes) {
    Chain chain;
    std::string_view left = bytes;
    while (!left.empty()) {
        const std::string_view line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(left.size(), line.size() + 1));
        (void)sentence_of(bytes.size(), false, [&] { chain.add(line); });
    }
    demand(chain.stages().size() <= static_cast<std::size_t>(kMaxStages), "the chain is too long");
    Chain again;
    for (const ChainStage& stage : chain.stages()) {
        again.add(to_string(stage)); // throws if our own text is refused
        demand(same(stage, again.stages().back()),
               "stage '" + to_string(stage) + "' is another when read again");
    }
    demand(to_string(again) == to_string(chain),
           "the chain '" + to_string(chain) + "' is another when read again");
    // Derived properties of a chain can only fail with a refusal.
    (void)text_in_effect(chain);
    (void)chain.quantity();
    (void)chain.stateful();
    (void)advice_lines(chain);
    (void)sentence_of(bytes.size(), false, [&] { (void)settled(chain); });
    demand(differs_in_free_only(chain, again), "a chain differs from itself");
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
