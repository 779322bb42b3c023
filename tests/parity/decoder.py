#!/usr/bin/python3
"""PyTorch's own decoder layer with the weights of a Hugging Face decoder gives Hugging Face's numbers: the same three
steps, under other names. `make parity` runs it; stage 14 is held to the same numbers by its tests."""
import os
import pathlib
import sys

sys.dont_write_bytecode = True

import torch
from torch import nn

import safetensors

ROOT = pathlib.Path(os.path.abspath(__file__)).parents[2]
safetensors.DTYPES["I64"] = torch.int64  # the fixture's ids and masks


#> decoder_layer
def decoder_layer(weights, prefix, C, n_head, wide):
    """A layer of Hugging Face's decoder as PyTorch's nn.TransformerDecoderLayer."""
    layer = nn.TransformerDecoderLayer(C, n_head, wide, dropout=0, activation="gelu", layer_norm_eps=1e-12, batch_first=True)
    own, w = {}, lambda name: weights[prefix + name]
    for theirs, ours in (("self_attn", "attention"), ("multihead_attn", "crossattention")):
        for kind in ("weight", "bias"):
            own[f"{theirs}.in_proj_{kind}"] = torch.cat([w(f"{ours}.self.{part}.{kind}") for part in ("query", "key", "value")])
            own[f"{theirs}.out_proj.{kind}"] = w(f"{ours}.output.dense.{kind}")
    for theirs, ours in (("linear1", "intermediate.dense"), ("linear2", "output.dense"), ("norm1", "attention.output.LayerNorm"),
                         ("norm2", "crossattention.output.LayerNorm"), ("norm3", "output.LayerNorm")):
        for kind in ("weight", "bias"):
            own[f"{theirs}.{kind}"] = w(f"{ours}.{kind}")
    layer.load_state_dict(own)
    return layer


def decode(layers, x, encoder_hidden_states, encoder_mask):  # (B, T, C), (B, S, C), (B, S)
    ahead = torch.triu(torch.ones(x.size(1), x.size(1), dtype=torch.bool), 1)  # true where a place may not look
    for layer in layers:
        x = layer(x, encoder_hidden_states, tgt_mask=ahead, memory_key_padding_mask=encoder_mask == 0)
    return x  # (B, T, C)
#< decoder_layer


def main():
    fixture, _ = safetensors.load(ROOT / "tests/fixtures/decoder_absolute.safetensors")
    embeddings = lambda name: fixture["model.embeddings." + name]
    ids = fixture["in.ids"]
    x = embeddings("word_embeddings.weight")[ids] + embeddings("token_type_embeddings.weight")[0]
    x = x + embeddings("position_embeddings.weight")[:ids.size(1)]
    x = nn.functional.layer_norm(x, x.shape[-1:], embeddings("LayerNorm.weight"), embeddings("LayerNorm.bias"), 1e-12)
    layers = [decoder_layer(fixture, f"model.encoder.layer.{i}.", 16, 4, 24) for i in range(2)]
    with torch.no_grad():
        found = decode(layers, x, fixture["in.encoder_hidden"], fixture["in.encoder_mask"])
    error = (found - fixture["out.last_hidden"]).abs().max().item()
    print(f"nn.TransformerDecoderLayer with a Hugging Face decoder's weights: differs by {error:.1e}")
    if not error < 1e-5:
        sys.exit("FAILED")


main()
