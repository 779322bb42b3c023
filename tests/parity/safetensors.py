"""Reads and writes .safetensors files by the published format: 8 bytes that say how long the header is, the header in
JSON, then the tensors' numbers."""
#> load
import json, torch

DTYPES = {"F32": torch.float32, "F64": torch.float64}

def load(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    metadata, tensors = header.pop("__metadata__"), {}
    for name, about in header.items():
        begin, end = about["data_offsets"]
        tensors[name] = torch.frombuffer(data[begin:end], dtype=DTYPES[about["dtype"]]).reshape(about["shape"])
    return tensors, metadata
#< load


def save(path, tensors, metadata):
    header, end = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        dtype = next(name for name, dtype in DTYPES.items() if dtype == tensor.dtype)
        begin, end = end, end + tensor.nelement() * tensor.element_size()
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the numbers begin at a multiple of their size
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.detach().numpy().tobytes())
