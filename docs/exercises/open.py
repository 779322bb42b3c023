#!/usr/bin/env python3
"""Has an open task reached its target? docs/exercises/run calls it from the top of the repository:

    docs/exercises/open.py ID PROGRAM      trains the program on the same text and as long as its stage was, and says how far it is
    docs/exercises/open.py ID              the same of the stage itself, from its recorded run
"""
import json, os, shutil, subprocess, sys

SECONDS = 600


def task(id):
    for line in open("docs/exercises/open.txt", encoding="utf-8"):
        fields = line.strip().split(" | ")
        if fields[0] == id:
            return fields[1], float(fields[2]), int(fields[3])


def trained(program, options):
    """The run of the program, or None: then it said why."""
    out = program + ".run"
    shutil.rmtree(out, ignore_errors=True)
    same = ("data", "batch_size", "block_size", "steps", "eval_interval", "eval_batches", "seed")
    words = [program, "--tokens", "0", "--out", out] + [word for key in same for word in (f"--{key.replace('_', '-')}", str(options[key]))]
    try:
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return print(f"It is not done after {SECONDS // 60} minutes.")
    if done.returncode or not os.path.exists(f"{out}/run.json"):
        return print(f"It did not train to its end: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return json.load(open(f"{out}/run.json"))


def main(id, program=None):
    stage, target, limit = task(id)
    run = json.load(open(f"docs/lessons/recorded/{stage}/run.json"))
    if program:
        run = trained(program, run["options"])
    if not run:
        return 1
    loss, parameters = run["best"]["val_loss"], run["parameters"]
    print(f"Its loss is {loss:.3f}, the target {target:.3f}" + (f": {loss - target:.3f} to go." if loss > target else "."))
    print(f"It has {parameters:,} parameters, allowed are {limit:,}" + (f": {parameters - limit:,} too many." if parameters > limit else "."))
    return int(loss > target or parameters > limit)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
