#include "data/grammar.h"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "common/base/format.h"
#include "common/base/rng.h"

namespace babygpt {

namespace {

std::string_view trim(std::string_view s) {
    size_t first = s.find_first_not_of(' ');
    return first == s.npos ? "" : s.substr(first, s.find_last_not_of(' ') - first + 1);
}

// The piece of `rest` before the separator; `rest` keeps what follows it.
std::string_view take(std::string_view& rest, std::string_view separator) {
    size_t end = rest.find(separator);
    std::string_view piece = rest.substr(0, end);
    rest = end == rest.npos ? "" : rest.substr(end + separator.size());
    return piece;
}

}  // namespace

double Generated::nats_per_char(size_t from_char) const {
    double nats = 0;
    for (const Choice& choice : choices)
        if (choice.position >= from_char) nats += choice.nats;
    return nats / static_cast<double>(characters - from_char);
}

Grammar::Grammar(std::string_view source) {
    std::vector<std::string> bodies;
    while (!source.empty()) {
        std::string_view line = take(source, "\n");
        if (line.empty() || line[0] == '#') continue;
        if (line[0] == ' ' ? bodies.empty() : line.find(" = ") == line.npos)
            throw std::invalid_argument("a grammar's line is not of the form 'rule = text': " + std::string(line));
        if (line[0] == ' ') {
            bodies.back().append(" ").append(trim(line));
        } else {
            rules_.push_back({std::string(take(line, " = ")), 0, false, {}});
            bodies.emplace_back(trim(line));
        }
    }
    for (size_t r = 0; r < rules_.size(); r++) {
        Rule& rule = rules_[r];
        for (std::string_view body = bodies[r]; !body.empty();) {
            rule.alternatives.push_back(parse_alternative(trim(take(body, "|")), r));
            rule.weight += rule.alternatives.back().weight;
        }
        for (Alternative& a : rule.alternatives) {
            if (a.weight == 0)
                throw std::invalid_argument("an alternative of the rule " + rule.name + " has the weight 0");
            a.nats = std::log(static_cast<double>(rule.weight) / static_cast<double>(a.weight));
            for (const Part& part : a.parts) rules_[part.rule].returns |= part.kind == Part::recall;
        }
    }
}

Grammar::Alternative Grammar::parse_alternative(std::string_view source, size_t rule) const {
    Alternative a{1, 0, {}};
    if (size_t digits = source.find_first_not_of("0123456789"); digits != 0 && digits != source.npos) {
        a.weight = std::stoull(std::string(source.substr(0, digits)));
        source = trim(source.substr(digits));
    }
    while (!source.empty()) {
        if (source[0] != '<') {
            std::string text(source.substr(0, source.find('<')));
            source.remove_prefix(text.size());
            for (char& c : text)
                if (c == '/') c = '\n';
            a.parts.push_back({Part::say, 0, text});
            continue;
        }
        source.remove_prefix(1);
        std::string_view use = take(source, ">");
        size_t mark = use.find_first_of("!?");
        std::string_view name = use.substr(0, mark), text = mark == use.npos ? "" : use.substr(mark + 1);
        size_t target = rule + 1;
        while (target < rules_.size() && rules_[target].name != name) target++;
        if (target == rules_.size())
            throw std::invalid_argument("grammar: rule " + rules_[rule].name + " uses <" + std::string(use) +
                                        ">, but no rule below it has that name");
        Part::Kind kind = mark == use.npos   ? Part::choose
                          : use[mark] == '?' ? Part::recall
                          : text.empty()     ? Part::remember
                                             : Part::note;
        a.parts.push_back({kind, target, std::string(text)});
    }
    return a;
}

struct Grammar::Writer {
    const std::vector<Rule>& rules;
    Rng rng;
    Generated out;
    std::vector<std::string> memory = std::vector<std::string>(rules.size());

    void write(std::string_view text) {
        out.text += text;
        out.characters += utf8_length(text);
    }

    const Alternative& choose(const Rule& rule) {
        if (rule.alternatives.size() == 1) return rule.alternatives[0];
        uint64_t r = rng.below(rule.weight);
        size_t i = 0;
        while (r >= rule.alternatives[i].weight) r -= rule.alternatives[i++].weight;
        out.choices.push_back({out.characters, rule.alternatives[i].nats});
        return rule.alternatives[i];
    }

    void expand(size_t rule) {
        for (const Part& part : choose(rules[rule]).parts) tell(part);
    }

    void tell(const Part& part) {
        size_t start = out.text.size(), span = out.spans.size();
        bool returns = part.kind == Part::recall;
        if (returns || part.kind == Part::remember)
            out.spans.push_back({rules[part.rule].name, out.characters, 0, returns});
        switch (part.kind) {
            case Part::say:
                write(part.text);
                break;
            case Part::choose:
                expand(part.rule);
                break;
            case Part::remember:
                expand(part.rule);
                memory[part.rule] = out.text.substr(start);
                break;
            case Part::note:
                memory[part.rule] = part.text;
                break;
            case Part::recall:
                write(memory[part.rule]);
                break;
        }
        if (returns || part.kind == Part::remember) out.spans[span].length = out.characters - out.spans[span].first;
    }
};

Generated Grammar::write(uint64_t seed, size_t bytes) const {
    Writer writer{rules_, Rng(seed, "corpus"), {}};
    while (writer.out.text.size() < bytes) {
        writer.expand(0);
        writer.write("\n\n");
    }
    return std::move(writer.out);
}

std::vector<Grammar::Alternative> Grammar::sentences(const Alternative& tale) {
    std::vector<Alternative> sentences{{1, 0, {}}};
    for (const Part& part : tale.parts) {
        if (part.kind == Part::say && (part.text == " " || part.text == "\n"))
            sentences.push_back({1, 0, {}});
        else
            sentences.back().parts.push_back(part);
    }
    return sentences;
}

std::vector<Document> Grammar::documents(uint64_t seed, size_t bytes) const {
    Writer writer{rules_, Rng(seed, "corpus"), {}};
    std::vector<Document> documents;
    for (size_t written = 0; written < bytes; written++) {
        Document& document = documents.emplace_back();
        for (const Alternative& sentence : sentences(writer.choose(rules_[0]))) {
            writer.out = {};
            for (const Part& part : sentence.parts) writer.tell(part);
            written += writer.out.text.size() + 1;  // a space or a line break ends it, the last one two line breaks
            document.push_back({writer.out.text, writer.out.spans});
        }
    }
    return documents;
}

// Means over all tales. Entropies of independent choices add up: each counts as often as the choice comes up.
// Lengths add up on the same walk; a value that returns counts at the end, when its mean length is known.
struct Grammar::Mean {
    struct Memory {
        double kept = 0, characters = 0, returns = 0;  // chance to be kept, times its length; number of returns
    };
    const std::vector<Rule>& rules;
    double nats = 0, characters = 0;
    std::vector<Memory> memory = std::vector<Memory>(rules.size());

    void walk(size_t rule, double chance) {
        for (const Alternative& a : rules[rule].alternatives) {
            double p = chance * std::exp(-a.nats);
            nats += p * a.nats;
            for (const Part& part : a.parts) {
                Memory& m = memory[part.rule];
                double length = p * static_cast<double>(utf8_length(part.text)), before = characters;
                switch (part.kind) {
                    case Part::say:
                        characters += length;
                        break;
                    case Part::choose:
                        walk(part.rule, p);
                        break;
                    case Part::remember:
                        walk(part.rule, p);
                        m.kept += p;
                        m.characters += characters - before;
                        break;
                    case Part::note:
                        m.kept += p;
                        m.characters += length;
                        break;
                    case Part::recall:
                        m.returns += p;
                        break;
                }
            }
        }
    }
};

double Grammar::entropy_per_char() const {
    Mean mean{rules_};
    mean.walk(0, 1);
    double characters = mean.characters + 2;  // the empty line
    for (const Mean::Memory& m : mean.memory)
        if (m.returns > 0) characters += m.returns * m.characters / m.kept;
    return mean.nats / characters;
}

}  // namespace babygpt
