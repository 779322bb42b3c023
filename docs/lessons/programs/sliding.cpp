// Lesson 12: characters a second below the block and past it. A model of places reads its window again at each
// character past the block, a model of distances slides; 11's writers are given the same weights as 12's of places.
//   sliding ABSOLUTE_RUN RELATIVE_RUN
#include <chrono>
#include <cstdio>

#include "common/babygpt.h"
#define main stage_main
namespace kvcache {
#include "stages/11_kvcache.cpp"
}
namespace relative {
#include "stages/12_relative.cpp"
}
#undef main
using namespace babygpt;

namespace {

void print_speed(const char* name, const NextLogits& next, const Options& o) {
    Rng rng(1);
    std::vector<int> context;
    auto speed = [&](int count) {
        auto begin = std::chrono::steady_clock::now();
        for (int n = 0; n < count; ++n) context.push_back(pick(next(context), o, rng));
        return count / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    double below = 0, past = 0;
    const int texts = 5;
    for (int text = 0; text < texts; ++text) {
        context = {0};
        below += speed(o.block_size - 1) / texts;
        past += speed(4 * o.block_size) / texts;
    }
    std::printf("%-22s %12.0f %12.0f\n", name, below, past);
}

template <class Model>
Model with_weights_of(const SavedModel& saved, const std::string& file) {
    Rng unused(0);
    Model model(saved.options, saved.vocabulary.size(), unused);
    restore(model.parameters, saved.checkpoint, "", file);
    return model;
}

}  // namespace

int main(int argc, char** argv) {
    return guarded("sliding", [&] {
        if (argc != 3) fail("usage: sliding ABSOLUTE_RUN RELATIVE_RUN");
        const std::string places_file = str(argv[1], "/model.safetensors"),
                          distances_file = str(argv[2], "/model.safetensors");
        SavedModel places = load_model(places_file, {.stage = "12_relative"});
        SavedModel distances = load_model(distances_file, {.stage = "12_relative"});
        auto of_11 = with_weights_of<kvcache::Model>(places, places_file);
        auto absolute = with_weights_of<relative::Model>(places, places_file);
        auto sliding = with_weights_of<relative::Model>(distances, distances_file);
        const Options& o = places.options;

        std::printf("%-22s %12s %12s\n", "chars/s", "below", "past");
        print_speed("11_plain", next_logits(of_11, o.block_size), o);
        print_speed("11_cached", cached_writer<kvcache::Cache>(of_11, o.block_size), o);
        print_speed("11_fast", cached_writer<KeyValueCache>(of_11, o.block_size), o);
        print_speed("absolute_plain", next_logits(absolute, o.block_size), o);
        print_speed("absolute_cached", cached_writer<relative::Cache>(absolute, o.block_size), o);
        print_speed("relative_key_plain", next_logits(sliding, o.block_size), o);
        print_speed("relative_key_cached", sliding_writer<relative::Cache>(sliding, o.block_size), o);
    });
}
