// Lesson 02: how alike a trained model's places are: the cosine between the vectors of every two of them.
#include <cmath>
#include <cstdio>

#include "common/babygpt.h"
using namespace babygpt;

int main(int argc, char** argv) {
    return guarded("positions", [&] {
        std::string stage = argc > 1 ? argv[1] : "03_head";
        SavedModel saved = load_model("runs/" + stage + "/model.safetensors", {.stage = stage});
        Tensor table;  // (T, C)
        for (const Module::Parameter& parameter : saved.checkpoint.tensors)
            if (parameter.name == "position_embedding.weight") table = parameter.tensor;
        if (!table.node) fail("the model of ", stage, " has no places; try 02_position or a later stage");
        size_t T = size_t(table.size(0)), C = size_t(table.size(1)), every = std::max<size_t>(1, T / 32);
        auto dot = [&](size_t i, size_t j) {
            double sum = 0;
            for (size_t c = 0; c < C; ++c) sum += double(table.values()[i * C + c] * table.values()[j * C + c]);
            return sum;
        };
        std::printf("# %s: how alike the vectors of two places are\n", stage.c_str());
        for (size_t j = 0; j < T; j += every) std::printf("\t%s", j / every % 4 ? " " : std::to_string(j).c_str());
        for (size_t i = 0; i < T; i += every) {
            std::printf("\n%zu", i);
            for (size_t j = 0; j < T; j += every)
                std::printf("\t%.2f", std::max(0.0, dot(i, j) / std::sqrt(dot(i, i) * dot(j, j))));
        }
        std::printf("\n");
    });
}
