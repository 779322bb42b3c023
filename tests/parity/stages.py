"""The stages that train, by what their mains call."""
import os
import pathlib

ROOT = pathlib.Path(os.path.abspath(__file__)).parents[2]
SOURCES = {source.stem: source.read_text() for source in (ROOT / "stages").glob("*.cpp")}


def stages_with(*calls):  # but for those that only `make mpi` builds: their models are those of other stages
    does = lambda text: any(f"{call}<Model>" in text for call in calls) and "<mpi.h>" not in text
    return sorted(stage for stage, text in SOURCES.items() if does(text))


STAGES, TRANSLATORS = stages_with("run_stage"), stages_with("run_translate")  # the first ones write
BERTS = stages_with("run_bert", "run_prune", "measure_memory")
