"""Hugging Face's BertForPreTraining in plain PyTorch, as stage 13 has it: names and shapes of the parameters are those of
modeling_bert.py, but that the decoder of cls.predictions is the word embeddings and has no name of its own."""
import math

import torch
from torch import nn
from torch.nn import functional as F

FOLLOWS_WEIGHT = 3
ACTIVATIONS = {"gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh")}


def norm(c):
    return nn.LayerNorm(c["hidden_size"], eps=c["layer_norm_eps"])


#> bert_embeddings
class BertEmbeddings(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.word_embeddings = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.position_embeddings = nn.Embedding(c["max_position_embeddings"], c["hidden_size"])
        self.token_type_embeddings = nn.Embedding(c["type_vocab_size"], c["hidden_size"])
        self.LayerNorm, self.dropout = norm(c), nn.Dropout(c["hidden_dropout_prob"])
        self.absolute = c["position_embedding_type"] == "absolute"

    def forward(self, ids, types):  # (B, T) each
        x = self.word_embeddings(ids) + self.token_type_embeddings(types)  # (B, T, C)
        if self.absolute:
            x = x + self.position_embeddings(torch.arange(ids.size(1)))
        return self.dropout(self.LayerNorm(x))
#< bert_embeddings


#> bert_attention
class BertSelfAttention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.kind, self.heads, C = c["position_embedding_type"], c["num_attention_heads"], c["hidden_size"]
        self.query, self.key, self.value = (nn.Linear(C, C) for _ in range(3))
        self.dropout = nn.Dropout(c["attention_probs_dropout_prob"])
        if self.kind != "absolute":
            self.distance_embedding = nn.Embedding(2 * c["max_position_embeddings"] - 1, C // self.heads)

    def forward(self, x, hidden):  # (B, T, C), (B, 1, 1, T): true at padding
        split = lambda y: y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))  # (B, heads, T, H)
        scores = q @ k.transpose(-2, -1)  # (B, heads, T, T)
        if self.kind != "absolute":
            place, far = torch.arange(x.size(1)), self.distance_embedding.num_embeddings // 2
            d = self.distance_embedding(place[:, None] - place[None, :] + far)  # (T, T, H)
            scores = scores + torch.einsum("bhld,lrd->bhlr", q, d)
            if self.kind == "relative_key_query":
                scores = scores + torch.einsum("bhrd,lrd->bhlr", k, d)
        scores = (scores / math.sqrt(q.size(-1))).masked_fill(hidden, -math.inf)
        parts = self.dropout(torch.softmax(scores, -1)) @ v  # (B, heads, T, H)
        return parts.transpose(1, 2).flatten(2)  # (B, T, C)
#< bert_attention


#> bert_layer
class BertOutput(nn.Module):  # BertSelfOutput too
    def __init__(self, c, size):
        super().__init__()
        self.dense, self.LayerNorm, self.dropout = nn.Linear(size, c["hidden_size"]), norm(c), nn.Dropout(c["hidden_dropout_prob"])

    def forward(self, x, residual):  # (B, T, size), (B, T, C)
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)  # (B, T, C)


class BertLayer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.attention = nn.ModuleDict({"self": BertSelfAttention(c), "output": BertOutput(c, c["hidden_size"])})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(c["hidden_size"], c["intermediate_size"])})
        self.output, self.activation = BertOutput(c, c["intermediate_size"]), ACTIVATIONS[c["hidden_act"]]

    def forward(self, x, hidden):  # (B, T, C)
        x = self.attention["output"](self.attention["self"](x, hidden), x)
        return self.output(self.activation(self.intermediate["dense"](x)), x)
#< bert_layer


#> bert_model
class BertModel(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embeddings = BertEmbeddings(c)
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(BertLayer(c) for _ in range(c["num_hidden_layers"]))})
        self.pooler = nn.ModuleDict({"dense": nn.Linear(c["hidden_size"], c["hidden_size"])})

    def forward(self, ids, types, mask):  # (B, T) each
        x, hidden = self.embeddings(ids, types), mask[:, None, None, :] == 0
        for layer in self.encoder["layer"]:
            x = layer(x, hidden)  # (B, T, C)
        return x, torch.tanh(self.pooler["dense"](x[:, 0]))  # (B, T, C), (B, C)
#< bert_model


#> bert_heads
class BertLMPredictionHead(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.transform = nn.ModuleDict({"dense": nn.Linear(c["hidden_size"], c["hidden_size"]), "LayerNorm": norm(c)})
        self.bias, self.activation = nn.Parameter(torch.zeros(c["vocab_size"])), ACTIVATIONS[c["hidden_act"]]

    def forward(self, x, word_embeddings):  # (B, T, C), (V, C)
        x = self.transform["LayerNorm"](self.activation(self.transform["dense"](x)))
        return F.linear(x, word_embeddings, self.bias)  # (B, T, V)


class BertForPreTraining(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.bert = BertModel(c)
        self.cls = nn.ModuleDict({"predictions": BertLMPredictionHead(c), "seq_relationship": nn.Linear(c["hidden_size"], 2)})

    def forward(self, ids, types, mask):  # (B, T) each
        x, pooled = self.bert(ids, types, mask)
        predictions = self.cls["predictions"](x, self.bert.embeddings.word_embeddings.weight)
        return predictions, self.cls["seq_relationship"](pooled)  # (B, T, V), (B, 2)
#< bert_heads


def pretraining_loss(predictions, follows, labels, next_sentence_label):
    """As stage 13 has it; Hugging Face's does not weigh the second part."""
    guessing = F.cross_entropy(predictions.flatten(0, 1), labels.flatten())  # labels of -100 do not count
    return guessing + FOLLOWS_WEIGHT * F.cross_entropy(follows, next_sentence_label.flatten())


def bert_config(options, vocab_size):
    """The options of a run as a BertConfig."""
    return {"vocab_size": vocab_size, "hidden_size": options["n_embd"], "num_hidden_layers": options["n_layer"],
            "num_attention_heads": options["n_head"], "intermediate_size": 4 * options["n_embd"], "hidden_act": "gelu",
            "hidden_dropout_prob": options["dropout"], "attention_probs_dropout_prob": options["dropout"],
            "max_position_embeddings": options["block_size"], "type_vocab_size": 2, "layer_norm_eps": 1e-12,
            "position_embedding_type": options["positions"]}
