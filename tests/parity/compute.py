"""What PyTorch makes of a model: its logits, loss and gradients on one batch, and its losses while it trains."""
import math

import torch
from torch.nn import functional as F

from bert import pretraining_loss
from translator import translation_logits_and_loss

PAIRS = ("input_ids", "token_type_ids", "labels", "next_sentence_label", "lengths")


def learning_rate(o, step):
    if step < o["warmup"]:
        return o["learning_rate"] * (step + 1) / (o["warmup"] + 1)
    if not o["decay"] or o["steps"] <= o["warmup"]:
        return o["learning_rate"]
    done = min((step - o["warmup"]) / (o["steps"] - o["warmup"]), 1)
    return o["learning_rate"] * (0.1 + 0.45 * (1 + math.cos(math.pi * done)))


def answer(model, batch):
    """The logits, by name, and the loss: of [x, y] for a model that writes, of pairs of sentences for a BERT, of
    sources and targets for a translator."""
    if "targets" in batch:
        logits, loss = translation_logits_and_loss(model, **batch)
        return {"logits": logits}, loss  # (B, T, V)
    if isinstance(batch, dict):
        ids, types, labels, follows, lengths = (torch.tensor(batch[name]) for name in PAIRS)
        mask = torch.arange(ids.size(1)) < lengths[:, None]  # (B, T)
        predictions, relationship = model(ids, types, mask)  # (B, T, V), (B, 2)
        loss = pretraining_loss(predictions, relationship, labels, follows)
        return {"prediction_logits": predictions, "seq_relationship_logits": relationship}, loss
    x, y = map(torch.tensor, batch)
    logits = model(x)  # (B, T, V)
    return {"logits": logits}, F.cross_entropy(logits.flatten(0, 1), y.flatten())


def clip(model, limit):
    """As clip_grad_norm_, but without the 1e-6 that it adds to the length: in double that would show."""
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    if limit == 0 or length <= limit:
        return False
    for gradient in gradients:
        gradient *= limit / length
    return True


def compute(model, o, batches):
    """Returns the tensors and losses that parity_dump writes for the same weights, options and batches; how many
    gradients were clipped comes last."""
    logits, loss = answer(model, batches[0])
    loss.backward()
    tensors = {**{name: values.detach() for name, values in logits.items()}, "loss": loss.detach().reshape(1)}
    tensors.update(("gradient." + name, p.grad.clone()) for name, p in model.named_parameters() if p.grad is not None)

    optimiser = torch.optim.AdamW(model.parameters(), betas=(o.get("beta1", 0.9), o.get("beta2", 0.99)), weight_decay=o["weight_decay"])
    losses, clipped = [], 0
    for step, batch in enumerate(batches):
        optimiser.param_groups[0]["lr"] = learning_rate(o, step)
        optimiser.zero_grad()
        loss = answer(model, batch)[1]
        loss.backward()
        clipped += clip(model, o["clip"])
        optimiser.step()
        losses.append(loss.item())
    return tensors, losses, clipped
