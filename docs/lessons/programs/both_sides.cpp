// Lesson 13: the same blanks guessed by a GPT, which sees what stands to their left, and by a BERT, which sees both
// sides. One character of a name, a thing and so on is missing.
//   both_sides 10_GPT-RUN 13_BERT-RUN
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "common/babygpt.h"
#include "common/text/utf8.h"
#define main stage_main
namespace gpt {
#include "stages/10_gpt.cpp"
}
namespace bert {
#include "stages/13_bert.cpp"
}
#undef main
using namespace babygpt;

struct Counts {
    size_t blanks = 0, gpt = 0, bert = 0;
};

int main(int argc, char** argv) {
    return guarded("both_sides", [&] {
        if (argc != 3) fail("usage: both_sides 10_GPT-RUN 13_BERT-RUN");
        std::string of_gpt = std::string(argv[1]) + "/model.safetensors",
                    of_bert = std::string(argv[2]) + "/model.safetensors";
        SavedModel saved_gpt = load_model(of_gpt, {.stage = "10_gpt"}),
                   saved_bert = load_model(of_bert, {.stage = "13_bert", .positions = "absolute"});
        Rng unused(0);
        gpt::Model writer(saved_gpt.options, saved_gpt.vocabulary.size(), unused);
        restore(writer.parameters, saved_gpt.checkpoint, "", of_gpt);
        CharacterTokenizer tokenizer(saved_bert.vocabulary);
        bert::Model reader(bert_config(saved_bert.options, tokenizer.size()), unused);
        restore(reader.parameters, saved_bert.checkpoint, "", of_bert);
        NextLogits next = next_logits(writer, saved_gpt.options.block_size);

        Sentences text = load_sentences("tales");
        NoGrad guessing;
        std::map<std::string, Counts> kinds;
        const size_t tales = 60;
        for (size_t tale = 0; tale < tales; ++tale) {
            size_t begin = size_t(text.val_begins) + 6 * tale;  // a tale has six sentences
            std::string before = "\n\n";                        // of the tale, for the GPT
            for (size_t s = begin; s < begin + 6; ++s) {
                // The BERT reads the sentence with the one that it is paired with, or alone.
                auto other = std::ranges::find_if(
                    text.val, [&](const auto& pair) { return size_t(pair.first) == s || size_t(pair.second) == s; });
                std::vector<int> ids{tokenizer.cls}, types{0};
                size_t start = 1;
                auto append = [&](size_t sentence, int type) {
                    if (sentence == s) start = ids.size();
                    ids.insert(ids.end(), text.tokens[sentence].begin(), text.tokens[sentence].end());
                    ids.push_back(tokenizer.sep);
                    types.resize(ids.size(), type);
                };
                if (other == text.val.end())
                    append(s, 0);
                else
                    append(size_t(other->first), 0), append(size_t(other->second), 1);
                bool alone = other == text.val.end();
                for (const Span& span : text.spans[s]) {
                    bool in_pairs = std::ranges::count(paired_kinds, span.kind);
                    if (alone == in_pairs) continue;  // a name that stands nowhere else in what the BERT reads
                    size_t at = span.first + tale % span.length;
                    std::vector<int> masked = ids;
                    int right = std::exchange(masked[start + at], tokenizer.mask), T = int(ids.size());
                    Tensor logits = reader({.input_ids = Tokens(1, T, masked), .token_type_ids = Tokens(1, T, types)})
                                        .prediction_logits;
                    size_t V = size_t(logits.size(-1));
                    std::string left = before + tokenizer.decode(std::span(text.tokens[s]).first(at));
                    std::vector<real> guess = next(saved_gpt.vocabulary.encode(decode_utf8(left, "text"), "text"));
                    int token = argmax(guess);
                    Counts& counts = kinds[span.kind];
                    ++counts.blanks;
                    counts.gpt += saved_gpt.vocabulary.decode({&token, 1}) == tokenizer.tokens[size_t(right)];
                    counts.bert += argmax(logits.values().subspan((start + at) * V, V)) == right;
                }
                before += tokenizer.decode(text.tokens[s]) + " ";
            }
        }
        std::printf("%-10s %8s %12s %13s\n", "slot", "blanks", "10_gpt", "13_bert");
        for (const auto& [kind, c] : kinds)
            std::printf("%-10s %8zu %11.1f%% %12.1f%%\n", kind.c_str(), c.blanks,
                        100.0 * double(c.gpt) / double(c.blanks), 100.0 * double(c.bert) / double(c.blanks));
    });
}
