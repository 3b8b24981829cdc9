#include "pipeline/chain.hpp"

#include <algorithm>

namespace specklescope {

void Chain::add(std::string_view text) {
    if (stages_.size() >= kMaxStages)
        throw UsageError("A chain holds at most " + std::to_string(kMaxStages) + " stages; leave some out.");
    const std::size_t colon = text.find(':');
    ChainStage stage;
    stage.type = &find_stage(text.substr(0, colon));
    stage.params = Params(*stage.type->table);
    std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view pair = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
        const std::size_t equal = pair.find('=');
        if (equal == std::string_view::npos)
            throw UsageError("stage " + std::string(stage.type->name) + ": '" + std::string(pair) +
                             "' is not of the form key=value.");
        stage.params.set_text(pair.substr(0, equal), pair.substr(equal + 1));
    }
    stages_.push_back(std::move(stage));
}

Quantity Chain::quantity() const {
    Quantity quantity;
    for (const ChainStage& stage : stages_)
        quantity = stage.type->quantity(stage.params, quantity);
    return quantity;
}

bool Chain::stateful() const {
    return std::any_of(stages_.begin(), stages_.end(), [](const ChainStage& s) { return s.type->stateful; });
}

bool differs_in_free_only(const Chain& a, const Chain& b) {
    return std::equal(a.stages().begin(), a.stages().end(), b.stages().begin(), b.stages().end(),
                      [](const ChainStage& left, const ChainStage& right) {
                          if (left.type != right.type)
                              return false;
                          const auto& decls = left.params.table().decls();
                          return std::all_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
                              return decl.cost == Cost::free ||
                                     left.params.get(decl.name) == right.params.get(decl.name);
                          });
                      });
}

std::string to_string(const ChainStage& stage) {
    std::string text(stage.type->name);
    char separator = ':';
    for (const ParamDecl& decl : stage.params.table().decls()) {
        text += separator + decl.name + "=" + to_string(stage.params.get(decl.name));
        separator = ',';
    }
    return text;
}

std::string to_string(const Chain& chain) {
    std::string text;
    for (const ChainStage& stage : chain.stages())
        text += (text.empty() ? "" : " | ") + to_string(stage);
    return text.empty() ? "none" : text;
}

} // namespace specklescope
