"""The models of all stages that train in plain PyTorch. Names and shapes of the parameters are the C++ programs', so a
checkpoint's tensors go into load_state_dict as they are."""
import json
import math

import torch
from torch import nn

from batches import SPECIAL
from bert import BertForPreTraining, bert_config
from heads import cut_out, parse_heads
from translator import EncoderDecoder


#> head
class Head(nn.Module):
    def __init__(self, n_embd, head_size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(n_embd, head_size, bias=False) for _ in range(3))

    def forward(self, x):  # (B, T, C)
        return attend(self.query(x), self.key(x), self.value(x))  # (B, T, H)


def attend(q, k, v):  # (..., T, H) each
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))  # (..., T, T)
    past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return torch.softmax(scores.masked_fill(~past, -math.inf), -1) @ v  # (..., T, H)
#< head


#> multihead
class MultiHead(nn.Module):
    def __init__(self, o, proj):
        super().__init__()
        self.heads = nn.ModuleList(Head(o["n_embd"], o["n_embd"] // o["n_head"]) for _ in range(o["n_head"]))
        self.proj = nn.Linear(o["n_embd"], o["n_embd"]) if proj else nn.Identity()

    def forward(self, x):  # (B, T, C)
        return self.proj(torch.cat([head(x) for head in self.heads], -1))  # (B, T, C)
#< multihead


#> heads
class AllHeadsAtOnce(nn.Module):  # keys, queries and values of all heads, side by side
    def __init__(self, o):
        super().__init__()
        self.n_head, C = o["n_head"], o["n_embd"]
        self.key, self.query, self.value = (nn.Linear(C, C, bias=False) for _ in range(3))
        self.proj, self.dropout = nn.Linear(C, C), nn.Dropout(o["dropout"])

    def forward(self, x):  # (B, T, C)
        split = lambda y: y.view(*y.shape[:2], self.n_head, -1)  # (B, T, n_head, H)
        k, q, v = split(self.key(x)), split(self.query(x)), split(self.value(x))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(k.size(-1))  # (B, n_head, T, T)
        past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        weights = self.dropout(torch.softmax(scores.masked_fill(~past, -math.inf), -1))
        parts = torch.einsum("bhqk,bkhd->bqhd", weights, v)  # (B, T, n_head, H)
        return self.dropout(self.proj(parts.reshape(x.shape)))  # (B, T, C)
#< heads


#> relative
class RelativeAttention(AllHeadsAtOnce):  # scores know how far apart two places are
    def __init__(self, o):
        super().__init__(o)
        self.kind, self.far = o["positions"], o["block_size"] - 1
        self.distance_embedding = nn.Embedding(2 * o["block_size"] - 1, o["n_embd"] // o["n_head"])

    def forward(self, x):  # (B, T, C)
        split = lambda y: y.view(*y.shape[:2], self.n_head, -1)  # (B, T, n_head, H)
        k, q, v = split(self.key(x)), split(self.query(x)), split(self.value(x))
        place = torch.arange(x.size(1))
        distance = (place[:, None] - place[None, :]).clamp(-self.far, self.far)  # (T, T)
        d = self.distance_embedding(distance + self.far)  # (T, T, H)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) + torch.einsum("bqhd,qkd->bhqk", q, d)  # (B, n_head, T, T)
        if self.kind == "relative_key_query":
            scores = scores + torch.einsum("bkhd,qkd->bhqk", k, d)
        scores = (scores / math.sqrt(k.size(-1))).masked_fill(distance < 0, -math.inf)
        parts = torch.einsum("bhqk,bkhd->bqhd", self.dropout(torch.softmax(scores, -1)), v)  # (B, T, n_head, H)
        return self.dropout(self.proj(parts.reshape(x.shape)))  # (B, T, C)
#< relative


#> feedforward
class FeedForward(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.up, self.down = nn.Linear(o["n_embd"], 4 * o["n_embd"]), nn.Linear(4 * o["n_embd"], o["n_embd"])
        self.dropout = nn.Dropout(o["dropout"])

    def forward(self, x):  # (B, T, C)
        return self.dropout(self.down(torch.relu(self.up(x))))  # (B, T, C)
#< feedforward


#> block
class Block(nn.Module):
    def __init__(self, o, attention, residual, norm):
        super().__init__()
        self.attention, self.feed_forward, self.residual = attention, FeedForward(o), residual
        self.norm1, self.norm2 = ((nn.LayerNorm if norm else nn.Identity)(o["n_embd"]) for _ in range(2))

    def forward(self, x):  # (B, T, C)
        x = self.residual * x + self.attention(self.norm1(x))
        return self.residual * x + self.feed_forward(self.norm2(x))
#< block


#> bigram
class Bigram(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.table = nn.Embedding(vocab_size, vocab_size)

    def forward(self, ids):  # (B, T)
        return self.table(ids)  # (B, T, V)
#< bigram


class Model(nn.Module):
    def __init__(self, stage, o, vocab_size):
        super().__init__()
        self.token_embedding, relative = nn.Embedding(vocab_size, o["n_embd"]), o.get("positions", "").startswith("relative")
        if not relative:
            self.position_embedding = nn.Embedding(o["block_size"], o["n_embd"])
        self.lm_head = nn.Linear(o["n_embd"], vocab_size)
        if stage == 3:
            self.head = Head(o["n_embd"], o["n_embd"])
        if stage in (4, 5):
            self.attention = MultiHead(o, proj=False)
        if stage == 5:
            self.feed_forward = FeedForward(o)
        if stage >= 6:
            attention = lambda: RelativeAttention(o) if relative else AllHeadsAtOnce(o) if stage >= 9 else MultiHead(o, proj=stage >= 7)
            blocks = (Block(o, attention(), residual=stage >= 7, norm=stage >= 8) for _ in range(o["n_layer"]))
            self.blocks = nn.Sequential(*blocks)
        if stage >= 8:
            self.norm = nn.LayerNorm(o["n_embd"])

    def forward(self, ids):  # (B, T)
        if not hasattr(self, "position_embedding"):
            x = self.token_embedding(ids)  # (B, T, C)
        else:
            #> embed
            x = self.token_embedding(ids) + self.position_embedding(torch.arange(ids.size(1)))  # (B, T, C)
            #< embed
        for part in ("head", "attention", "feed_forward", "blocks", "norm"):
            if hasattr(self, part):
                x = getattr(self, part)(x)  # (B, T, C)
        return self.lm_head(x)  # (B, T, V)


def make_model(metadata):
    """A new model for the metadata of a checkpoint."""
    stage, vocab_size, options = int(metadata["stage"][:2]), len(metadata["vocabulary"]), json.loads(metadata["options"])
    if stage >= 13:
        twin = EncoderDecoder if stage == 14 else BertForPreTraining
        model = twin(bert_config(options, SPECIAL + vocab_size))
        cut_out(model, parse_heads(options.get("pruned_heads", "")))
        return model
    return Bigram(vocab_size) if stage == 1 else Model(stage, options, vocab_size)
