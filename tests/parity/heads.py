#!/usr/bin/python3
"""Heads switched off and cut out, in PyTorch, with the weights of a Hugging Face BERT give Hugging Face's numbers.
`make parity` runs it; stage 15 is held to the same numbers by its tests."""
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True

import torch
from torch import nn

import safetensors
from bert import BertForPreTraining

ROOT = pathlib.Path(os.path.abspath(__file__)).parents[2]
safetensors.DTYPES["I64"] = torch.int64  # the fixture's ids and masks


#> heads
def mask_heads(attention, head_mask):  # (heads): 1 keeps a head, 0 switches it off
    """What a hook returns takes the place of what its module computed; remove() ends that."""
    hook = lambda dropout, inputs, probs: probs * head_mask[:, None, None]  # (B, heads, T, T)
    return attention["self"].dropout.register_forward_hook(hook)


def prune_linear_layer(layer, index, dim=0):
    """A new nn.Linear of these rows (dim 0) or columns (dim 1)."""
    weight, bias = layer.weight.index_select(dim, index), layer.bias if dim == 1 else layer.bias[index]
    pruned = nn.Linear(weight.size(1), weight.size(0))
    pruned.load_state_dict({"weight": weight, "bias": bias})
    return pruned


def prune_heads(attention, heads):  # by the numbers that they have now
    its = attention["self"]
    H = its.query.out_features // its.heads
    left = [head for head in range(its.heads) if head not in heads]
    index = torch.cat([torch.arange(head * H, (head + 1) * H) for head in left])
    its.query, its.key, its.value = (prune_linear_layer(part, index) for part in (its.query, its.key, its.value))
    attention["output"].dense = prune_linear_layer(attention["output"].dense, index, dim=1)
    its.heads = len(left)
#< heads


def parse_heads(text):
    """Heads by layer as 15 saves them: of "0:1;1:0,2" it makes {0: [1], 1: [0, 2]}."""
    layers = (layer.split(":") for layer in text.split(";") if layer)
    return {int(number): [int(head) for head in its.split(",")] for number, its in layers}


def cut_out(model, heads):  # of a whole model, by layer
    for number, its in heads.items():
        prune_heads(model.bert.encoder["layer"][number].attention, its)


def main():
    fixture, metadata = safetensors.load(ROOT / "tests/fixtures/heads.safetensors")
    model = BertForPreTraining(json.loads(metadata["config"])).eval()
    model.load_state_dict({name[6:]: tensor for name, tensor in fixture.items() if name.startswith("model.")})
    attentions = [layer.attention for layer in model.bert.encoder["layer"]]
    errors = []

    def compare(what, found, expected):
        errors.append((found - fixture[expected]).abs().max().item() if found.shape == fixture[expected].shape else float("inf"))
        print(f"{what:38} differs by {errors[-1]:.1e}")

    def last_hidden():
        return model.bert(fixture["in.ids"], fixture["in.types"], fixture["in.mask"])[0]

    print("Heads of a Hugging Face BERT in PyTorch")
    with torch.no_grad():
        compare("all heads", last_hidden(), "out.last_hidden")
        hooks = [mask_heads(attention, mask) for attention, mask in zip(attentions, fixture["in.head_mask"])]
        compare("some switched off", last_hidden(), "out.masked.last_hidden")
        for hook in hooks:
            hook.remove()
        for layer, heads in json.loads(metadata["pruned"]).items():
            prune_heads(attentions[int(layer)], heads)
        compare("the same ones cut out", last_hidden(), "out.pruned.last_hidden")
        for name, parameter in model.named_parameters():
            if "pruned." + name in fixture and not torch.equal(parameter, fixture["pruned." + name]):
                sys.exit(f"FAILED: {name} is not what Hugging Face leaves of it")
    if not max(errors) < 1e-5:
        sys.exit("FAILED")


if __name__ == "__main__":
    main()
