// Whatever bytes a checkpoint holds: it loads, or it is refused with an Error. Nothing else may happen.
#include "common/babygpt.h"

#define main stage_main
namespace gpt {
#include "stages/09_gpt.cpp"
}
#undef main

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace babygpt;
    try {
        SavedModel saved = parse_model({reinterpret_cast<const char*>(data), size}, "input", {.stage = "09_gpt"});
        Rng unused(0);
        gpt::Model model(saved.options, saved.vocabulary.size(), unused);
        restore(model.parameters, saved.checkpoint, "", "input");
    } catch (const Error&) {
    }
    return 0;
}
