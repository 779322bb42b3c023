// The choices that make a BERT, under the names and with the defaults of Hugging Face's BertConfig.
#pragma once
#include <map>
#include <set>
#include <string>

namespace babygpt {

using HeadsByLayer = std::map<int, std::set<int>>;

struct BertConfig {
    int vocab_size = 30522;
    int hidden_size = 768;
    int num_hidden_layers = 12;
    int num_attention_heads = 12;
    int intermediate_size = 3072;
    std::string hidden_act = "gelu";  // or gelu_new
    double hidden_dropout_prob = 0.1;
    double attention_probs_dropout_prob = 0.1;
    int max_position_embeddings = 512;
    int type_vocab_size = 2;
    double initializer_range = 0.02;
    double layer_norm_eps = 1e-12;
    std::string position_embedding_type = "absolute";  // or relative_key, relative_key_query
    bool is_decoder = false;                           // it writes: no place looks ahead
    bool add_cross_attention = false;                  // and looks at what an encoder has read
    int gradient_checkpointing = 0;   // so many layers together are computed again instead of kept; 0: none, 1: as true
    int chunk_size_feed_forward = 0;  // so many places go through the feed-forward layer at once; 0: all
    HeadsByLayer pruned_heads = {};   // those that were cut out, by their numbers before
};

}  // namespace babygpt
