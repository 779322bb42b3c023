"""Batches that both sides are given: pieces of a text, as lists of tokens."""
PAD, CLS, SEP, MASK, IGNORE = 0, 2, 3, 4, -100
SPECIAL = 5  # these and [UNK] come before a BERT's characters


def random_blocks(ids, B, T, rng):
    """[x, y], each (B, T): for a model that writes."""
    starts = [rng.randrange(len(ids) - T) for _ in range(B)]
    return [[ids[i : i + T] for i in starts], [ids[i + 1 : i + T + 1] for i in starts]]


def random_pairs(ids, B, T, rng):
    """For a BERT: two pieces a row, the second right after the first or from elsewhere, or one alone; some of the
    characters hidden, and padding up to the longest row, of T tokens at most. The names are Hugging Face's, but for lengths."""
    rows = []
    for row in range(B):
        n, m = (rng.randint(1, (T - 3) // 2) for _ in range(2))
        start, elsewhere, label = rng.randrange(len(ids) - T), rng.randrange(len(ids) - T), rng.randrange(2)
        second = elsewhere if label else start + n
        tokens = [CLS, *(i + SPECIAL for i in ids[start : start + n]), SEP, *(i + SPECIAL for i in ids[second : second + m]), SEP]
        if row == 1:
            tokens, label = tokens[: n + 2], IGNORE
        places = [t for t, token in enumerate(tokens) if token >= SPECIAL]
        chosen = rng.sample(places, 1 + len(places) // 6)
        labels = [token if t in chosen else IGNORE for t, token in enumerate(tokens)]
        for t in chosen:
            tokens[t] = rng.choice([MASK, tokens[t]])
        rows.append((tokens, [int(t >= n + 2) for t in range(len(tokens))], labels, label))
    longest = max(len(tokens) for tokens, *_ in rows)
    pad = lambda column, value: [row[column] + [value] * (longest - len(row[column])) for row in rows]
    return {"input_ids": pad(0, PAD), "token_type_ids": pad(1, 0), "labels": pad(2, IGNORE),
            "next_sentence_label": [[label] for *_, label in rows], "lengths": [len(tokens) for tokens, *_ in rows]}


def random_translations(ids, B, T, rng):
    """For a translator: two pieces a row, the second to be written when the first, between [CLS] and [SEP], was read."""
    def piece(most):
        start, length = rng.randrange(len(ids) - T), rng.randint(1, most)
        return [i + SPECIAL for i in ids[start : start + length]]
    return {"sources": [[CLS, *piece(T - 2), SEP] for _ in range(B)], "targets": [piece(T - 1) for _ in range(B)]}
