// Lesson 14: what each of a decoder's two caches saves, for texts of growing length.
//   caches
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace translator {
#include "stages/14_translate.cpp"
}
#undef main
using namespace babygpt;

namespace {

//> ways
// Writes T tokens after T that were read; returns milliseconds a token. What is not to be kept is thrown away again.
double write(const EncoderDecoder& model, int T, bool keep_self, bool keep_cross) {
    NoGrad writing;
    std::vector<int> ids(size_t(T), 7);
    Tensor states = model.encode({.input_ids = Tokens(1, T, ids)});  // (1, T, C)
    std::vector<PastKeyValue> past;
    auto begin = std::chrono::steady_clock::now();
    for (int n = 1; n <= T; ++n) {
        for (PastKeyValue& kept : past) {
            if (!keep_self) kept.self = {};
            if (!keep_cross) kept.cross = {};
        }
        int fresh = keep_self ? 1 : n;
        model.decode({.input_ids = Tokens(1, fresh, std::vector<int>(size_t(fresh), 7)),
                      .encoder_hidden_states = states,
                      .past_key_values = &past});
    }
    return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / T;
}
//< ways

}  // namespace

int main() {
    return guarded("caches", [&] {
        const int longest = 256;
        Rng rng(1);
        translator::Model model({.vocab_size = 300,
                                 .hidden_size = 64,
                                 .num_hidden_layers = 2,
                                 .num_attention_heads = 4,
                                 .intermediate_size = 256,
                                 .max_position_embeddings = longest},
                                rng);
        std::printf("ms a token, read and written:\n");
        std::printf("%-8s %10s %10s %10s %10s %8s\n", "length", "nothing", "cross", "self", "both", "times");
        write(model, longest, true, true);  // until memory and caches are warm
        for (int T = 16; T <= longest; T *= 2) {
            std::vector<double> tries[4];
            for (int i = 0; i < 5; ++i)  // one after another, so that a busy moment is shared by all
                for (size_t way = 0; way < 4; ++way) tries[way].push_back(write(model, T, way & 2, way & 1));
            std::printf("%-8d", T);
            for (std::vector<double>& times : tries) {
                std::ranges::sort(times);
                std::printf(" %10.3f", times[2]);  // the median
            }
            std::printf(" %8.1f\n", tries[0][2] / tries[3][2]);
        }
    });
}
