// parity_dump CHECKPOINT QUESTION ANSWER: loads a stage's checkpoint, computes logits, loss and gradients on the first
// batch of the question, trains on all of its batches with its options, and writes what came out as safetensors. The
// question is JSON: {"options": {...}, "batches": [...]}.
#include "common/base/files.h"
#include "tests/parity/compute.h"

int main(int argc, char** argv) {
    return guarded("parity_dump", [&] {
        if (argc != 4) fail("usage: parity_dump CHECKPOINT QUESTION ANSWER");
        std::string file = argv[1];
        SavedModel saved = load_model(file, {.stage = from_safetensors(read_file(file), file).about("stage", file)});
        auto question = nlohmann::json::parse(read_file(argv[2]));
        Options options = options_from_json(question["options"].dump(), argv[2], {});
        Answer answer = compute(options, saved.vocabulary, saved.checkpoint, question["batches"]);
        Checkpoint result{{{"losses", nlohmann::json(answer.losses).dump()}}, answer.tensors};
        write_whole(argv[3], to_safetensors(result));
    });
}
