#!/usr/bin/python3
"""Writes fixtures/STAGE.safetensors: for a small model of every stage that trains, random weights and batches, and the logits,
loss, gradients and first losses of training that PyTorch computes from them in double. tests/parity_test.cpp compares
the stages with them, so that it needs no PyTorch. Run it again when a stage's model or a default changes."""
import json
import random
import sys

sys.dont_write_bytecode = True

import torch

import safetensors
from batches import random_pairs, random_translations
from compute import compute
from models import make_model
from stages import BERTS, ROOT, STAGES, TRANSLATORS

STEPS, VOCABULARY = 10, "\n abcdefé中x"
SIZES = {"batch_size": 3, "block_size": 9, "n_embd": 10, "n_head": 2, "n_layer": 2}


def options_of(stage):
    gpt = stage >= "10"
    its_own = {"positions": "relative_key_query"} if stage >= "12" else {}
    its_own |= {"pruned_heads": "0:1"} if stage == "15_prune" else {}
    return {"stage": stage, "data": "tales", **SIZES, **its_own, "dropout": 0.0, "steps": STEPS, "learning_rate": 0.03,
            "warmup": 3 if gpt else 0, "decay": gpt, "weight_decay": 0.01, "clip": 0.5 if gpt else 0.0,
            "eval_interval": 10, "eval_batches": 1, "threads": 2, "seed": 1}


for stage in STAGES + BERTS + TRANSLATORS:
    torch.manual_seed(1)
    options = options_of(stage)
    metadata = {"stage": stage, "options": json.dumps(options), "vocabulary": "".join(sorted(VOCABULARY))}
    model = make_model(metadata)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)  # a LayerNorm that scales by 1 would hide a mistake
    weights = {"weight." + name: p.detach().clone() for name, p in model.named_parameters()}
    B, T, rng = SIZES["batch_size"], SIZES["block_size"], random.Random(1)
    if stage in BERTS + TRANSLATORS:
        text, draw = rng.choices(range(len(VOCABULARY)), k=100), random_pairs if stage in BERTS else random_translations
        batches = [draw(text, B, T, rng) for _ in range(STEPS)]
    else:
        batches = torch.randint(len(VOCABULARY), (STEPS, 2, B, T)).tolist()
    tensors, losses, clipped = compute(model.double(), options, batches)
    assert clipped or not options["clip"]
    metadata.update(batches=json.dumps(batches, separators=(",", ":")), losses=json.dumps(losses))
    tensors = {name: tensor.float() for name, tensor in {**weights, **tensors}.items()}  # half the size, 7 digits
    safetensors.save(ROOT / f"tests/parity/fixtures/{stage}.safetensors", tensors, metadata)
