// Lesson 16: what a model that only reads needs, whole and with its feed-forward layers in chunks.
#include <cstdio>

#include "common/tensor/allocator.h"
#define main stage_main
#include "stages/16_memory.cpp"
#undef main

double megabytes(BertConfig config, int B, int T, int chunk) {
    NoGrad reading;
    NoInitWeights zeros;
    Rng unused(0);
    config.max_position_embeddings = T, config.chunk_size_feed_forward = chunk;
    Model model(config, unused);
    Tokens ids(B, T, std::vector<int>(size_t(B * T), 7));
    size_t before = live_bytes();
    reset_peak();
    model({.input_ids = ids});
    return double(peak_bytes() - before) / 1e6;
}

int main() {
    std::printf("wide  texts x length  MB whole  MB in chunks\n");
    for (auto [wide, heads] : {std::pair{64, 4}, std::pair{768, 12}})
        for (int T : {32, 64, 128, 256, 512}) {
            Options o{.n_embd = wide, .n_head = heads, .n_layer = 3, .positions = "absolute"};
            BertConfig config = bert_config(o, 64);
            int B = wide == 64 ? 512 / T : 1;
            double whole = megabytes(config, B, T, 0), in_chunks = megabytes(config, B, T, 16);
            std::printf("%4d %8s %15.2f %8.2f %5.2f\n", wide, str(B, "x", T).c_str(), whole, in_chunks,
                        in_chunks / whole);
        }
}
