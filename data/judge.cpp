#include <algorithm>

#include "data/grammar.h"

namespace babygpt {

// Reads one tale: tries the alternatives in turn, goes on with what has to follow, and comes back if that fails.
struct Grammar::Reader {
    struct Slot {
        size_t rule;
        bool right;
    };
    struct Chosen {
        size_t rule, alternative;
    };
    // What is still to be read: the parts of an alternative from `next` on, then the rest of whatever used it.
    struct Rest {
        const Alternative* alternative;
        size_t next;
        const Part* use;  // the part that asked for this alternative, whose text begins at `start`
        size_t start;
        bool in_slot;  // a value that returns: a free choice in form, none in probability
        const Rest* after;
    };
    struct Remembered {
        size_t rule;
        std::string_view value;
    };

    const std::vector<Rule>& rules;
    std::string_view tale;
    double nats = 0;
    std::vector<Slot> slots;
    std::vector<Remembered> memory;
    std::vector<Chosen> chosen;

    bool read() {
        Part start{Part::choose, 0, ""};
        return choose(start, 0, false, nullptr);
    }

    bool read(const Alternative& sentence) {
        Part start{Part::choose, 0, ""};
        Rest rest{&sentence, 0, &start, 0, false, nullptr};
        return follow(&rest, 0);
    }

    bool all_right() const {
        return std::all_of(slots.begin(), slots.end(), [](const Slot& slot) { return slot.right; });
    }

    bool choose(const Part& use, size_t at, bool in_slot, const Rest* after) {
        double nats_before = nats;
        size_t slots_before = slots.size(), memory_before = memory.size(), chosen_before = chosen.size();
        const std::vector<Alternative>& alternatives = rules[use.rule].alternatives;
        for (const Alternative& a : alternatives) {
            if (!in_slot) nats += a.nats;
            chosen.push_back({use.rule, size_t(&a - alternatives.data())});
            Rest rest{&a, 0, &use, at, in_slot, after};
            if (follow(&rest, at)) return true;
            nats = nats_before;
            slots.resize(slots_before);
            memory.resize(memory_before);
            chosen.resize(chosen_before);
        }
        return false;
    }

    bool follow(const Rest* rest, size_t at) {
        if (!rest) return at == tale.size();
        if (rest->next == rest->alternative->parts.size()) {
            close(*rest->use, tale.substr(rest->start, at - rest->start), rest->in_slot);
            return follow(rest->after, at);
        }
        const Part& part = rest->alternative->parts[rest->next];
        Rest after = *rest;
        after.next++;
        switch (part.kind) {
            case Part::say:
                return tale.substr(at).starts_with(part.text) && follow(&after, at + part.text.size());
            case Part::note:
                if (!rest->in_slot) memory.push_back({part.rule, part.text});
                return follow(&after, at);
            default:
                return choose(part, at, rest->in_slot || part.kind == Part::recall, &after);
        }
    }

    void close(const Part& use, std::string_view value, bool in_slot) {
        if (use.kind == Part::remember && !in_slot) memory.push_back({use.rule, value});
        if (use.kind != Part::recall) return;
        std::string_view told = value;  // in a sentence that stands alone a value may return that nobody told
        for (const Remembered& m : memory)
            if (m.rule == use.rule) told = m.value;
        memory.push_back({use.rule, told});
        slots.push_back({use.rule, told == value});
    }
};

Score Grammar::judge(std::string_view text) const {
    Score score;
    std::vector<Score::Slots> kinds(rules_.size());
    for (size_t r = 0; r < rules_.size(); r++)
        if (rules_[r].returns) kinds[r].kind = rules_[r].name;
    for (size_t end; (end = text.find("\n\n")) != text.npos; text.remove_prefix(end + 2)) {
        Reader reader{rules_, text.substr(0, end), 0, {}, {}, {}};
        score.tales++;
        if (!reader.read()) continue;
        score.in_form++;
        size_t right = 0;
        for (const Reader::Slot& slot : reader.slots) {
            right += slot.right;
            kinds[slot.rule].slots++;
            kinds[slot.rule].right += slot.right;
        }
        score.slots += reader.slots.size();
        score.slots_right += right;
        score.all_right += right == reader.slots.size();
    }
    for (const Score::Slots& kind : kinds)
        if (!kind.kind.empty()) score.kinds.push_back(kind);
    return score;
}

std::optional<double> Grammar::tale_nats(std::string_view tale) const {
    Reader reader{rules_, tale, 0, {}, {}, {}};
    if (!reader.read() || !reader.all_right()) return {};
    return reader.nats;
}

std::optional<Derivation> Grammar::read_sentence(std::string_view sentence) const {
    for (const Alternative& tale : rules_[0].alternatives)
        for (const Alternative& form : sentences(tale)) {
            Reader reader{rules_, sentence, 0, {}, {}, {}};
            if (!reader.read(form) || !reader.all_right()) continue;
            Derivation derivation;
            for (const Reader::Chosen& choice : reader.chosen)
                derivation[rules_[choice.rule].name] = choice.alternative;
            return derivation;
        }
    return {};
}

}  // namespace babygpt
