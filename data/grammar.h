// A grammar is data: a text of weighted choices. From that one description come a corpus, the exact entropy of what it
// writes, and a judge of what a model writes. A piece of text that the grammar makes is called a tale.
//
// The notation, one rule a line (an indented line continues it; a line that starts with # is a comment):
//     greeting = 3 Hello, <friend!>! Hello, <friend?>! | Good <time>.
//     friend = Ada | Alan
//     time = day | night
// The first rule is the tale. `|` separates alternatives, a leading number is a weight, `/` is a line break.
//     <rule>       one of the rule's alternatives
//     <rule!>      the same, and it is remembered
//     <rule!text>  the text is remembered as the rule's value, nothing is written
//     <rule?>      what was remembered is written again: a memory slot
// Three things are asked of a grammar. A rule uses only rules below it, so that every tale ends. A tale has only one
// derivation, so that the probability of the choices is the probability of the text. How often a value returns does not
// depend on the value, so that the mean length of a tale is exact.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace babygpt {

// Where the value of a remembered rule stands in a text.
struct Span {
    std::string kind;      // the rule's name
    size_t first, length;  // in characters
    bool returns;          // said before: a memory slot; the others are what is remembered

    bool operator==(const Span&) const = default;
};

struct Generated {
    struct Choice {
        size_t position;  // the character (code point) of the text at which the choice is made
        double nats;      // -ln of its probability
    };
    std::string text;
    size_t characters = 0;
    std::vector<Choice> choices;  // in the order of the text
    std::vector<Span> spans;      // so too

    double nats_per_char(size_t from_char = 0) const;  // the information in the text from this character on
};

// A piece of a tale: what the first rule sets between spaces or line breaks.
struct Sentence {
    std::string text;
    std::vector<Span> spans;  // counted from the sentence's first character
};
using Document = std::vector<Sentence>;

struct Score {
    struct Slots {
        std::string kind;  // the rule whose value returns
        size_t slots = 0, right = 0;
    };
    size_t tales = 0;                   // whole tales in the text
    size_t in_form = 0;                 // follow the grammar, when a slot may hold any value of its kind
    size_t all_right = 0;               // in form, and every slot holds what was remembered
    size_t slots = 0, slots_right = 0;  // of the tales in form
    std::vector<Slots> kinds;
};

// The alternative that each rule of a sentence took, by the rule's name. A rule comes up once in it, or as a return.
using Derivation = std::map<std::string, size_t>;

class Grammar {
  public:
    explicit Grammar(std::string_view source);

    // Tales, each closed by an empty line, until the text has at least this many bytes.
    Generated write(uint64_t seed, size_t bytes) const;

    // The same tales, each in its sentences.
    std::vector<Document> documents(uint64_t seed, size_t bytes) const;

    double entropy_per_char() const;

    // A tale is what stands before an empty line; a last piece without one was cut off by the end and does not count.
    Score judge(std::string_view text) const;

    // -ln of the probability of a tale (without its empty line); nothing if the grammar can't write it.
    std::optional<double> tale_nats(std::string_view tale) const;

    // The choices of a sentence that stands alone; nothing if the grammar can't write it. What returns from sentences
    // before it may be any value of its kind.
    std::optional<Derivation> read_sentence(std::string_view sentence) const;

    // The sentence of these choices, which may be those of another grammar that this one can tell: all of them are
    // known, so they are said in any order and as often as it likes. <toy.piece> is what else toy's choice has to say.
    std::string tell(const Derivation& derivation) const;

    // Fails unless each rule of the original, with as many alternatives and uses of the same rules, is in this grammar.
    void must_tell(const Grammar& original) const;

  private:
    struct Part {
        enum Kind { say, choose, remember, note, recall } kind;
        size_t rule;       // all but say
        std::string text;  // say and note
    };
    struct Alternative {
        uint64_t weight;
        double nats;  // -ln of its probability
        std::vector<Part> parts;
    };
    struct Rule {
        std::string name;
        uint64_t weight = 0;   // of all alternatives
        bool returns = false;  // some rule recalls it
        std::vector<Alternative> alternatives;
    };
    struct Writer;
    struct Mean;
    struct Reader;

    Alternative parse_alternative(std::string_view source, size_t rule) const;
    static std::vector<Alternative> sentences(const Alternative& tale);
    std::set<std::string> uses(const Alternative& alternative) const;

    std::vector<Rule> rules_;
};

const Grammar& tales();
const Grammar& verses();

}  // namespace babygpt
