#!/usr/bin/python3
"""Compares every stage that trains with PyTorch: same weights, same batches, so logits, loss, gradients and the losses of
training must agree; and a checkpoint of a real run must give the same logits in PyTorch, and one that 15 pruned the same
hidden states. `make parity` runs it."""
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when PyTorch is loaded
sys.dont_write_bytecode = True

import torch

import safetensors
from batches import CLS, MASK, SEP, SPECIAL, random_blocks, random_pairs, random_translations
from compute import answer, compute
from heads import cut_out, mask_heads, parse_heads, prune_heads
from models import make_model
from stages import BERTS, ROOT, STAGES, TRANSLATORS

BUILD = ROOT / os.environ.get("BUILD", "build")
FIXTURES = ROOT / "tests/parity/fixtures"
KINDS = ("absolute", "relative_key", "relative_key_query")  # of a BERT's positions

# Sizes that no vector register divides; head_size 10 is not n_embd 30.
SIZES = {"batch-size": 5, "block-size": 19, "n-embd": 30, "n-head": 3, "n-layer": 2}
SINCE = {"n-embd": "02", "n-head": "04", "n-layer": "06"}  # the first stage that has the option
STEPS = 300

# Float has 7 digits; a sum of some hundred products, through two blocks and back, keeps more than 5 of them.
LARGEST_ERROR = 1e-4
# While training, a rounding error grows, and jumps where a ReLU falls on the other side of 0. In double it starts so
# small that all losses must agree. In float the first ones must, and the last ones stay as near to PyTorch's as two
# runs in float can be: the table's last column shows how far PyTorch in float strays from PyTorch in double.
LARGEST_IN_DOUBLE, LARGEST_AT_FIRST, LARGEST_AT_THE_END = 1e-9, 1e-4, 0.1

results = []


def check(good, *what):
    results.append(bool(good))
    if not good:
        print("FAILED:", *what)


def error(ours, theirs, name=""):
    """The largest difference, relative to the largest number; but to 1e-3 where all are smaller in the gradient of a
    BERT's key.bias, which is 0 but for rounding, as it adds the same to all scores of a query."""
    ours, theirs = ours.double(), theirs.double()
    if ours.shape != theirs.shape:
        return math.inf
    difference = (ours - theirs).abs().max().item() / max(theirs.abs().max().item(), 1e-3 if name.endswith("key.bias") else 1e-300)
    return difference if difference == difference else math.inf  # NaN is no agreement


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, words))}\n{done.stderr}")


def ask(checkpoint, options, batches, build=BUILD):
    """What our code makes of a checkpoint, options and batches."""
    question, answer = checkpoint.with_name("question.json"), checkpoint.with_name("answer.safetensors")
    question.write_text(json.dumps({"options": options, "batches": batches}))
    run(build / "parity_dump", checkpoint, question, answer)
    tensors, metadata = safetensors.load(answer)
    return tensors, json.loads(metadata["losses"])


def twin(checkpoint):
    tensors, metadata = safetensors.load(checkpoint)
    model = make_model(metadata)
    model.load_state_dict(tensors)  # strict: no name may be missing or left over
    return model, metadata


def in_double(checkpoint):
    """The same checkpoint for the double build of our code."""
    tensors, metadata = safetensors.load(checkpoint)
    path = checkpoint.with_name("double.safetensors")
    safetensors.save(path, {name: tensor.double() for name, tensor in tensors.items()}, metadata)
    return path


def write_text(file):
    """A little language of 23 characters, some of them more than a byte long."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqéß中", k=rng.randint(2, 6))) for _ in range(40)]
    sentence = lambda: " ".join(rng.choices(words, weights=range(1, 41), k=rng.randint(3, 8))) + ".\n"
    file.write_text("".join(sentence() for _ in range(300)), encoding="utf-8")
    return file.read_text(encoding="utf-8")


def write_pairs(file, text):
    """The same for a translator: pieces that fit the block, each with itself backwards as its translation."""
    text, n = text.replace("\n", ""), SIZES["block-size"] - 2
    pieces = [text[i : i + n] for i in range(0, len(text), n)]
    file.write_text("".join(f"{piece}\t{piece[::-1]}\n" for piece in pieces), encoding="utf-8")


def prune(checkpoint, pruned):
    """What 15 leaves of a BERT without some of its heads."""
    model, metadata = twin(checkpoint)
    options = {**json.loads(metadata["options"]), "stage": "15_prune", "pruned_heads": "0:1;1:0,2"}
    cut_out(model, parse_heads(options["pruned_heads"]))
    safetensors.save(pruned, dict(model.named_parameters()), {**metadata, "stage": "15_prune", "options": json.dumps(options)})


def random_batches(text, metadata, B, count):
    stage, vocabulary = metadata["stage"], metadata["vocabulary"]
    rng, ids = random.Random(2), [vocabulary.index(c) for c in text if c in vocabulary]  # that of a BERT has no line ends
    draw = random_pairs if stage in BERTS else random_translations if stage in TRANSLATORS else random_blocks
    return [draw(ids, B, json.loads(metadata["options"])["block_size"], rng) for _ in range(count)]


def compare_models(directory):
    text = write_text(directory / "text")
    write_pairs(directory / "pairs", text)
    print(f"""
The same weights and the same batch: largest relative error against PyTorch in double

{'':21} {'logits':>8} {'loss':>8} {'gradients':>9}   worst gradient""")
    trained = []
    models = [(stage, stage, []) for stage in STAGES]
    models += [(f"{stage[:2]} {kind}", stage, ["--positions", kind]) for stage in BERTS + TRANSLATORS for kind in KINDS]
    for name, stage, settings in models:
        checkpoint = directory / name / "model.safetensors"
        if stage == "15_prune":
            checkpoint.parent.mkdir()
            prune(directory / name.replace("15", "13") / "model.safetensors", checkpoint)
        else:
            settings += [f"--{option}={size}" for option, size in SIZES.items() if stage >= SINCE.get(option, "")]
            settings += ["--dropout=0", "--warmup=20"] if stage >= "10" else []
            settings += ["--tokens=0"] if stage in STAGES else []
            data = directory / ("pairs" if stage in TRANSLATORS else "text")
            run(BUILD / stage, "train", "--data", data, "--steps", 0, "--eval-batches", 1, "--threads", 2,
                "--out", directory / name, *settings)
        model, metadata = twin(checkpoint)
        options = {**json.loads(metadata["options"]), "steps": STEPS}
        batches = random_batches(text, metadata, SIZES["batch-size"], STEPS)
        theirs, losses, clipped = compute(model.double(), options, batches)
        ours, float_losses = ask(checkpoint, options, batches)
        _, double_losses = ask(in_double(checkpoint), options, batches, BUILD / "double")
        _, their_float_losses, _ = compute(twin(checkpoint)[0], options, batches)
        trained.append((name, losses, double_losses, float_losses, their_float_losses))

        errors = {tensor: error(ours[tensor], theirs[tensor], tensor) if tensor in ours else math.inf for tensor in theirs}
        worst = max((tensor for tensor in errors if tensor.startswith("gradient.")), key=errors.get)
        logits = max(errors[tensor] for tensor in errors if tensor.endswith("logits"))
        print(f"{name:21} {logits:8.1e} {errors['loss']:8.1e} {errors[worst]:9.1e}   {worst[9:]}")
        for tensor in errors:
            check(errors[tensor] <= LARGEST_ERROR, name, tensor, f"off by {errors[tensor]:.1e} of its largest number")
        check(set(ours) == set(theirs), name, "has other parameters:", sorted(set(ours) ^ set(theirs)))
        check(clipped or not options["clip"], name, "no gradient was long enough to be clipped")
    compare_losses(trained)


def compare_losses(trained):
    print(f"""
{STEPS} steps of training on the same batches: difference of the losses from PyTorch's in double

{'':21} {'loss, first and last 50':>25} {'double':>9} {'float':>20} {'PyTorch float':>14}
{'':47} {'all steps':>9} {'first 10':>10} {'last 50':>9} {'last 50':>14}""")
    for stage, theirs, *others in trained:
        double, ours, their_float = ([abs(a - b) for a, b in zip(losses, theirs)] for losses in others)
        most, first, last, noise = max(double), max(ours[:10]), sum(ours[-50:]) / 50, sum(their_float[-50:]) / 50
        print(f"{stage:21} {sum(theirs[:50]) / 50:12.4f} {sum(theirs[-50:]) / 50:12.4f} {most:9.1e}"
              f" {first:10.1e} {last:9.1e} {noise:14.1e}")
        check(most <= LARGEST_IN_DOUBLE, stage, f"losses in double differ by up to {most:.1e}")
        check(first <= LARGEST_AT_FIRST, stage, f"losses of the first 10 steps differ by up to {first:.1e}")
        check(last <= LARGEST_AT_THE_END, stage, f"losses of the last 50 steps differ by {last:.1e} on average")


def compare_checkpoints(directory):
    print(f"""
Checkpoints of real runs of 20 steps, loaded into PyTorch in float: difference of the logits

{'':15} {'parameters':>10} {'step':>5} {'largest logit':>14} {'difference':>11}""")
    text = subprocess.run([BUILD / "corpus", "write", "tales"], capture_output=True, text=True, check=True).stdout
    (directory / "tales").write_text(text)  # from a file: a run on the built-in text ends with many tales to judge
    for stage in STAGES + BERTS + TRANSLATORS:
        if stage == "15_prune":
            continue  # compare_pruned has its model
        data = ["--data", directory / "tales", "--tokens", 0] if stage in STAGES else []
        run(BUILD / stage, "train", *data, "--steps", 20, "--eval-interval", 20, "--eval-batches", 2,
            "--out", directory / "runs" / stage)
        checkpoint = directory / "runs" / stage / "model.safetensors"
        model, metadata = twin(checkpoint)
        batches = random_batches(text, metadata, 2, 1)
        ours, _ = ask(checkpoint, json.loads(metadata["options"]), batches)
        with torch.no_grad():
            logits, _ = answer(model.eval(), batches[0])
        largest = max(values.abs().max().item() for values in logits.values())
        difference = max((values - ours[name]).abs().max().item() for name, values in logits.items())
        count = sum(p.numel() for p in model.parameters())
        print(f"{stage:15} {count:10} {metadata['step']:>5} {largest:14.2f} {difference:11.1e}")
        check(difference <= LARGEST_ERROR, stage, f"logits of a checkpoint differ by {difference:.1e}")


def compare_pruned(directory):
    """What 15 leaves of 13's run, against 13's twin with the same heads switched off, and then cut out."""
    full, pruned, hidden = directory / "runs/13_bert", directory / "runs/15_prune", directory / "hidden.safetensors"
    text = "Rosa won a kite."
    run(BUILD / "15_prune", "--model", full, "--tolerance", 100, "--out", pruned)
    run(BUILD / "15_prune", "fill", text + "_", "--model", pruned, "--hidden", hidden)
    gone = json.loads(safetensors.load(pruned / "model.safetensors")[1]["options"])["pruned_heads"]
    model, metadata = twin(full / "model.safetensors")
    ids = torch.tensor([[CLS, *(SPECIAL + metadata["vocabulary"].index(c) for c in text), MASK, SEP]])
    ours, layers = safetensors.load(hidden)[0], model.eval().bert.encoder["layer"]

    def difference():
        with torch.no_grad():
            theirs = model.bert(ids, torch.zeros_like(ids), torch.ones_like(ids))[0]
        return error(ours[f"hidden_states.{len(layers)}"], theirs)

    heads = {layers[number].attention: its for number, its in parse_heads(gone).items()}
    hooks = [mask_heads(attention, torch.tensor([float(h not in its) for h in range(attention["self"].heads)]))
             for attention, its in heads.items()]
    masked = difference()
    for hook, (attention, its) in zip(hooks, heads.items()):
        hook.remove()
        prune_heads(attention, its)
    cut = difference()
    print(f"\n15_prune without heads {gone}: hidden states differ by {masked:.1e} from PyTorch's with these switched off,"
          f" by {cut:.1e} with these cut out")
    check(max(masked, cut) <= LARGEST_ERROR, "15_prune: hidden states of a pruned model")


def compare_fixtures():
    """The fixtures that the C++ tests read are what PyTorch says today."""
    for stage in STAGES + BERTS + TRANSLATORS:
        tensors, metadata = safetensors.load(FIXTURES / f"{stage}.safetensors")
        model = make_model(metadata)
        model.load_state_dict({name[7:]: t for name, t in tensors.items() if name.startswith("weight.")})
        theirs, losses, _ = compute(model.double(), json.loads(metadata["options"]), json.loads(metadata["batches"]))
        stored = torch.tensor(json.loads(metadata["losses"]))
        worst = max([error(tensors[name], theirs[name], name) for name in theirs] + [error(stored, torch.tensor(losses))])
        check(worst <= 1e-6, stage, f"its fixture is stale (off by {worst:.1e}): run tests/parity/make_fixtures.py")


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        compare_models(pathlib.Path(name))
        compare_checkpoints(pathlib.Path(name))
        compare_pruned(pathlib.Path(name))
    compare_fixtures()
    print(f"\n{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(not all(results))
