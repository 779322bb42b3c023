"""What PyTorch makes of a model: its logits, loss and gradients on one batch, and its losses while it trains."""
import math

import torch
from torch.nn import functional as F


def learning_rate(o, step):
    if step < o["warmup"]:
        return o["learning_rate"] * (step + 1) / (o["warmup"] + 1)
    if not o["decay"] or o["steps"] <= o["warmup"]:
        return o["learning_rate"]
    done = min((step - o["warmup"]) / (o["steps"] - o["warmup"]), 1)
    return o["learning_rate"] * (0.1 + 0.45 * (1 + math.cos(math.pi * done)))


def loss_of(model, x, y):
    logits = model(torch.tensor(x))  # (B, T, V)
    return logits, F.cross_entropy(logits.flatten(0, 1), torch.tensor(y).flatten())


def clip(model, limit):
    """As clip_grad_norm_, but without the 1e-6 that it adds to the length: in double that would show."""
    length = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    if limit == 0 or length <= limit:
        return False
    for p in model.parameters():
        p.grad *= limit / length
    return True


def compute(model, o, batches):
    """Returns the tensors and losses that parity_dump writes for the same weights, options and batches; how many
    gradients were clipped comes last."""
    logits, loss = loss_of(model, *batches[0])
    loss.backward()
    tensors = {"logits": logits.detach(), "loss": loss.detach().reshape(1)}
    tensors.update(("gradient." + name, p.grad.clone()) for name, p in model.named_parameters())

    optimiser = torch.optim.AdamW(model.parameters(), betas=(o.get("beta1", 0.9), o.get("beta2", 0.99)), weight_decay=o["weight_decay"])
    losses, clipped = [], 0
    for step, batch in enumerate(batches):
        optimiser.param_groups[0]["lr"] = learning_rate(o, step)
        optimiser.zero_grad()
        loss = loss_of(model, *batch)[1]
        loss.backward()
        clipped += clip(model, o["clip"])
        optimiser.step()
        losses.append(loss.item())
    return tensors, losses, clipped
