"""The stages that train, by what their mains call."""
import os
import pathlib

ROOT = pathlib.Path(os.path.abspath(__file__)).parents[2]
SOURCES = {source.stem: source.read_text() for source in (ROOT / "stages").glob("*.cpp")}


def stages_with(call):  # but for those that only `make mpi` builds: their models are those of other stages
    return sorted(stage for stage, text in SOURCES.items() if f"{call}<Model>" in text and "<mpi.h>" not in text)


STAGES, BERTS, TRANSLATORS = map(stages_with, ("run_stage", "run_bert", "run_translate"))  # the first ones write
