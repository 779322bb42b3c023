// The choices of one grammar told by another: a translation.
#include <set>
#include <stdexcept>

#include "data/grammar.h"

namespace babygpt {

namespace {

// toy.piece is another telling of the choice of toy.
std::string chosen_rule(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

std::string Grammar::tell(const Derivation& derivation) const {
    std::string text;
    auto expand = [&](size_t rule, auto& again) -> void {
        size_t choice = derivation.at(chosen_rule(rules_[rule].name));
        for (const Part& part : rules_[rule].alternatives.at(choice).parts) {
            if (part.kind == Part::say)
                text += part.text;
            else if (part.kind != Part::note)
                again(part.rule, again);
        }
    };
    for (const Part& part : rules_[0].alternatives[0].parts)
        if (part.kind == Part::choose && derivation.contains(rules_[part.rule].name)) expand(part.rule, expand);
    return text;
}

// The rules that an alternative may choose from, by itself or through others.
std::set<std::string> Grammar::uses(const Alternative& alternative) const {
    std::set<std::string> names;
    for (const Part& part : alternative.parts) {
        if (part.kind == Part::say || part.kind == Part::note) continue;
        names.insert(chosen_rule(rules_[part.rule].name));
        for (const Alternative& a : rules_[part.rule].alternatives) names.merge(uses(a));
    }
    return names;
}

void Grammar::must_tell(const Grammar& original) const {
    auto refuse = [](const auto&... words) { throw std::invalid_argument(("a telling's " + ... + words)); };
    std::set<std::string> told;
    for (const Rule& rule : rules_) {
        size_t r = 0;
        while (r < original.rules_.size() && original.rules_[r].name != chosen_rule(rule.name)) r++;
        if (r == original.rules_.size()) refuse("rule " + rule.name + " is not in the original");
        const std::vector<Alternative>&mine = rule.alternatives, &theirs = original.rules_[r].alternatives;
        if (mine.size() != theirs.size())
            refuse("rule " + rule.name + " has " + std::to_string(mine.size()) + " alternatives, the original's " +
                   std::to_string(theirs.size()));
        told.insert(rule.name);
        for (size_t i = 0; i < mine.size(); i++) {
            for (const Part& part : mine[i].parts)
                if (part.kind != Part::say && part.kind != Part::choose)
                    refuse("rule " + rule.name + " remembers, but a telling knows all choices: write <rule> only");
            if (rule.name == chosen_rule(rule.name) && uses(mine[i]) != original.uses(theirs[i]))
                refuse("rule " + rule.name + " does not use the original's rules in alternative " +
                       std::to_string(i + 1));
        }
    }
    for (const Rule& rule : original.rules_)
        if (!told.contains(rule.name)) refuse("rule " + rule.name + " is missing");
}

}  // namespace babygpt
