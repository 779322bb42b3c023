"""Hugging Face's EncoderDecoderModel of two BERTs in plain PyTorch, as stage 14 has it: the boxes of bert.py, and a layer that
also looks at what the encoder has read. Names and shapes of the parameters are the C++ program's."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from batches import CLS, IGNORE, PAD, SEP
from bert import BertEmbeddings, BertLayer, BertLMPredictionHead, BertOutput, BertSelfAttention


#> cross_attention
class BertCrossAttention(BertSelfAttention):  # keys and values are of the text that was read
    def forward(self, x, states, hidden):  # (B, T, C), (B, S, C), (B, 1, 1, S)
        split = lambda y: y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(states)), split(self.value(states))  # (B, heads, T or S, H)
        scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).masked_fill(hidden, -math.inf)  # (B, heads, T, S)
        return (self.dropout(torch.softmax(scores, -1)) @ v).transpose(1, 2).flatten(2)  # (B, T, C)


class BertDecoderLayer(BertLayer):
    def __init__(self, c):
        super().__init__(c)
        cross = BertCrossAttention({**c, "position_embedding_type": "absolute"})  # two texts have no distance
        self.crossattention = nn.ModuleDict({"self": cross, "output": BertOutput(c, c["hidden_size"])})

    def forward(self, x, hidden, states, states_hidden):  # (B, T, C), (B, 1, T, T), (B, S, C), (B, 1, 1, S)
        x = self.attention["output"](self.attention["self"](x, hidden), x)
        x = self.crossattention["output"](self.crossattention["self"](x, states, states_hidden), x)
        return self.output(self.activation(self.intermediate["dense"](x)), x)
#< cross_attention


class BertStack(nn.Module):  # a BertModel without a pooler, of layers of either kind
    def __init__(self, c, layer):
        super().__init__()
        self.embeddings = BertEmbeddings(c)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(layer(c) for _ in range(c["num_hidden_layers"]))})

    def forward(self, ids, *seen):  # (B, T), and what a layer is told beside x
        x = self.embeddings(ids, torch.zeros_like(ids))
        for layer in self.encoder["layer"]:
            x = layer(x, *seen)
        return x  # (B, T, C)


#> translator
class EncoderDecoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.encoder = BertStack(c, BertLayer)
        cls = nn.ModuleDict({"predictions": BertLMPredictionHead(c)})
        self.decoder = nn.ModuleDict({"bert": BertStack(c, BertDecoderLayer), "cls": cls})

    def forward(self, source, target):  # (B, S), (B, T)
        unread, unwritten = (ids[:, None, None, :] == PAD for ids in (source, target))  # (B, 1, 1, S or T)
        ahead = torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1)  # (T, T)
        states = self.encoder(source, unread)  # (B, S, C)
        bert, predictions = self.decoder["bert"], self.decoder["cls"]["predictions"]
        x = bert(target, unwritten | ahead, states, unread)  # (B, T, C)
        return predictions(x, bert.embeddings.word_embeddings.weight)  # (B, T, V)


def translation_logits_and_loss(model, sources, targets):
    """Rows of ids: [CLS] source [SEP], and target. The decoder is given [CLS] target, and asked for target [SEP]."""
    def padded(rows, pad):
        longest = max(map(len, rows))
        return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
    logits = model(padded(sources, PAD), padded([[CLS, *row] for row in targets], PAD))
    labels = padded([[*row, SEP] for row in targets], IGNORE)
    return logits, F.cross_entropy(logits.flatten(0, 1), labels.flatten())
#< translator
