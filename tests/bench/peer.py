#!/usr/bin/python3
"""PyTorch's side of the benchmark: the same models, told what to do on standard input, answering in seconds.
    peer.py train KIND B T C heads layers V dropout TORCH_THREADS BLAS_THREADS     then "N": N training steps
    peer.py write T C heads layers V CACHED TORCH_THREADS BLAS_THREADS             then "N": N characters from an empty context
    peer.py bert DIRECTORY T TORCH_THREADS BLAS_THREADS                            then "N": N sequences of T tokens read
    peer.py load DIRECTORY TORCH_THREADS BLAS_THREADS                              then "N": N times loading that model
    peer.py save DIRECTORY TORCH_THREADS BLAS_THREADS                              a BERT of bert-base-chinese's size, of random numbers
"""
import json, math, os, random, subprocess, sys, time

os.environ["OPENBLAS_NUM_THREADS"] = sys.argv[-1]  # read when the library loads
os.environ["OMP_WAIT_POLICY"] = "passive"  # two thread pools on two cores: spinning ruins both
import torch
import torch.nn as nn
import torch.utils.checkpoint
from torch.nn import functional as F

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), "../parity"))
import safetensors
from batches import CLS, SEP, SPECIAL
from bert import BertForPreTraining, bert_config, pretraining_loss
from heads import prune_heads
from translator import EncoderDecoder, translation_logits_and_loss


class Head(nn.Module):
    def __init__(self, c, size, T):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(c, size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(T, T)))

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
        return F.softmax(scores.masked_fill(self.tril == 0, -math.inf), -1) @ v


class Heads(nn.Module):
    def __init__(self, c, heads, T):
        super().__init__()
        self.heads = nn.ModuleList(Head(c, c // heads, T) for _ in range(heads))

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], -1)


class Attention(nn.Module):
    """All heads at once, as nanoGPT does: PyTorch's fastest way."""

    def __init__(self, c, heads, T, p):
        super().__init__()
        self.heads, self.p = heads, p
        self.qkv, self.proj = nn.Linear(c, 3 * c, bias=False), nn.Linear(c, c)
        self.register_buffer("hidden", torch.tril(torch.ones(T, T)).view(1, 1, T, T) == 0)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in self.qkv(x).split(C, 2))
        if cache is not None:
            if cache:
                k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
            cache[:] = [k, v]
        w = q @ k.transpose(-2, -1) * (1 / math.sqrt(k.size(-1)))
        if T > 1:
            w = w.masked_fill(self.hidden[:, :, :T, :T], -math.inf)
        w = F.dropout(F.softmax(w, -1), self.p, self.training)
        return F.dropout(self.proj((w @ v).transpose(1, 2).reshape(B, T, C)), self.p, self.training)


class RelativeAttention(Attention):
    """With a vector for each distance, as BERT's relative_key."""

    def __init__(self, c, heads, T, p):
        super().__init__(c, heads, T, p)
        self.distance_embedding = nn.Embedding(2 * T - 1, c // heads)
        self.register_buffer("distance", torch.arange(T)[:, None] - torch.arange(T)[None, :] + T - 1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in self.qkv(x).split(C, 2))
        w = q @ k.transpose(-2, -1) + torch.einsum("bhld,lrd->bhlr", q, self.distance_embedding(self.distance))
        w = (w * (1 / math.sqrt(k.size(-1)))).masked_fill(self.hidden, -math.inf)
        w = F.dropout(F.softmax(w, -1), self.p, self.training)
        return F.dropout(self.proj((w @ v).transpose(1, 2).reshape(B, T, C)), self.p, self.training)


class Block(nn.Module):
    def __init__(self, c, heads, T, p, relative):
        super().__init__()
        self.attention, self.norm1, self.norm2 = (RelativeAttention if relative else Attention)(c, heads, T, p), nn.LayerNorm(c), nn.LayerNorm(c)
        self.feed_forward = nn.Sequential(nn.Linear(c, 4 * c), nn.ReLU(), nn.Linear(4 * c, c), nn.Dropout(p))

    def forward(self, x, cache=None):
        x = x + (self.attention(self.norm1(x)) if cache is None else self.attention(self.norm1(x), cache))
        return x + self.feed_forward(self.norm2(x))


class Model(nn.Module):
    def __init__(self, kind, T, c, heads, layers, V, p):
        super().__init__()
        self.kind = kind
        if kind == "bigram":
            self.table = nn.Embedding(V, V)
            return
        self.token_embedding, self.position_embedding = nn.Embedding(V, c), nn.Embedding(T, c)
        if kind == "head":
            self.body = nn.ModuleList([Head(c, c, T)])
        elif kind == "multihead":
            self.body = nn.ModuleList([Heads(c, heads, T)])
        else:
            self.body = nn.ModuleList([Block(c, heads, T, p, kind == "relative") for _ in range(layers)] + [nn.LayerNorm(c)])
        self.lm_head = nn.Linear(c, V)

    def forward(self, ids, caches=None, start=0):
        if self.kind == "bigram":
            return self.table(ids)
        x = self.token_embedding(ids)
        if self.kind != "relative":
            x = x + self.position_embedding(torch.arange(start, start + ids.size(1)))
        for i, part in enumerate(self.body):
            x = part(x, caches[i]) if caches and isinstance(part, Block) else part(x)
        return self.lm_head(x)


def serve(f):
    for line in sys.stdin:
        begin = time.perf_counter()
        f(int(line))
        print(time.perf_counter() - begin, flush=True)


def serve_training(model, draw_loss):
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def steps(n):
        for _ in range(n):
            loss = draw_loss()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()

    serve(steps)


def train(kind, B, T, c, heads, layers, V, p):
    model, text = Model(kind, T, c, heads, layers, V, p), torch.randint(V, (100_000,))

    def loss():
        starts = torch.randint(len(text) - T, (B,))
        x = torch.stack([text[i : i + T] for i in starts])
        y = torch.stack([text[i + 1 : i + T + 1] for i in starts])
        return F.cross_entropy(model(x).view(-1, V), y.view(-1))

    serve_training(model, loss)


#> checkpointed
class Forgetful(nn.Module):
    """Forgets what a layer computes inside, and computes it again on the way back, with the same dropout mask."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x, hidden):  # (B, T, C), (B, 1, 1, T)
        return torch.utils.checkpoint.checkpoint(self.layer, x, hidden, use_reentrant=False)
#< checkpointed


def train_bert(B, T, c, heads, layers, V, p, kind):
    """Pairs of sentences of T/5 to T/2 characters each, and one sentence alone in eight rows; 15 % of them to guess."""
    model = BertForPreTraining(bert_config(dict(n_embd=c, n_layer=layers, n_head=heads, dropout=p, block_size=T, positions="absolute"), V))
    if kind == "pruned":  # without the second half of each layer's heads
        for layer in model.bert.encoder["layer"]:
            prune_heads(layer.attention, range(heads // 2, heads))
    if kind == "checkpoint":
        model.bert.encoder["layer"] = nn.ModuleList(map(Forgetful, model.bert.encoder["layer"]))

    def loss():
        parts = torch.randint(T // 5, T // 2 - 1, (2, B))
        alone = torch.rand(B) < 0.125
        lengths = torch.where(alone, parts[0] + 2, parts.sum(0) + 3)
        place = torch.arange(lengths.max())
        mask, types = place < lengths[:, None], place > parts[0, :, None] + 1  # (B, longest)
        words = torch.randint(5, V, mask.shape)
        chosen = (torch.rand(mask.shape) < 0.15) & mask
        ids = words.masked_fill(chosen, 4).masked_fill(~mask, 0)
        return pretraining_loss(*model(ids, (types & mask).long(), mask), words.masked_fill(~chosen, -100),
                                torch.randint(2, (B,)).masked_fill(alone, -100))

    serve_training(model, loss)


def train_translator(B, T, c, heads, layers, V, p):
    """On the built-in pairs, as ours: each batch is padded to its longest row."""
    lines = subprocess.run(["build/corpus", "write", "pairs"], check=True, capture_output=True, text=True).stdout.splitlines()
    number = {character: SPECIAL + i for i, character in enumerate(sorted(set("".join(lines)) - {"\t"}))}
    pairs = [[[number[character] for character in side] for side in line.split("\t")] for line in lines[: len(lines) * 9 // 10]]
    assert V == SPECIAL + len(number), f"the pairs have {SPECIAL + len(number)} tokens"
    model = EncoderDecoder(bert_config(dict(n_embd=c, n_layer=layers, n_head=heads, dropout=p, block_size=T, positions="absolute"), V))

    def loss():
        drawn = random.choices(pairs, k=B)
        sources, targets = [[CLS, *source, SEP] for source, _ in drawn], [target for _, target in drawn]
        return translation_logits_and_loss(model, sources, targets)[1]

    serve_training(model, loss)


def save_bert(directory):
    config = dict(bert_config(dict(n_embd=768, n_layer=12, n_head=12, dropout=0.1, block_size=512, positions="absolute"), 21128))
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/config.json", "w") as file:
        json.dump(config, file)
    with open(f"{directory}/vocab.txt", "w") as file:
        file.writelines(f"{word}\n" for word in ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [chr(0x4E00 + i) for i in range(5, 21128)])
    safetensors.save(f"{directory}/model.safetensors", dict(BertForPreTraining(config).named_parameters()), {})


def load_bert(directory):
    with open(f"{directory}/config.json") as file:
        model = BertForPreTraining(json.load(file))
    model.load_state_dict(safetensors.load(f"{directory}/model.safetensors")[0])
    return model.eval()


def read_bert(directory, T):
    model, ids = load_bert(directory), torch.full((1, T), 7)

    @torch.no_grad()
    def sequences(n):
        for _ in range(n):
            model(ids, torch.zeros_like(ids), torch.ones_like(ids))

    serve(sequences)


def write(T, c, heads, layers, V, cached):
    model = Model("gpt", T, c, heads, layers, V, 0).eval()

    @torch.no_grad()
    def characters(n):
        ids, caches = torch.zeros((1, 1), dtype=torch.long), [[] for _ in range(layers + 1)]
        for i in range(n):
            logits = model(ids[:, -1:], caches, i) if cached else model(ids[:, -T:])
            ids = torch.cat((ids, torch.multinomial(F.softmax(logits[:, -1], -1), 1)), 1)

    serve(characters)


words = sys.argv[2:]
torch.manual_seed(1)
torch.set_num_threads(int(words[-2]))
if sys.argv[1] == "train":
    sizes = *map(int, words[1:7]), float(words[7])
    if words[0] == "translate":
        train_translator(*sizes)
    elif words[0] in ("bert", "pruned", "checkpoint"):
        train_bert(*sizes, words[0])
    else:
        train(words[0], *sizes)
elif sys.argv[1] == "write":
    write(*map(int, words[:6]))
elif sys.argv[1] == "bert":
    read_bert(words[0], int(words[1]))
elif sys.argv[1] == "load":
    serve(lambda n: [load_bert(words[0]) for _ in range(n)])
else:
    save_bert(words[0])
