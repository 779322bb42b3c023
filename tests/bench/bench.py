#!/usr/bin/python3
"""Measures training and writing against PyTorch and against the machine, in one run, and prints tables.

Ours and PyTorch's take turns, so that a busy moment hits both; numbers are medians with their spread. PyTorch runs with the best
of its thread settings, tried first. FLOPs are counted by one formula: 6 for each matmul parameter and token, and 12 T C for each
layer's attention and token, the half that the causal mask hides counted as if it were computed.
"""
import json, os, shutil, statistics, subprocess, sys, time

OURS, PEER = ["build/bench"], ["/usr/bin/python3", os.path.join(os.path.dirname(__file__), "peer.py")]
QUICK = "--quick" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv[:-1] else None  # a line of the first table, by its name
CORES = min(2, os.cpu_count())

#        name           kind         B   T    C   heads layers V   dropout
SIZES = [("tiny bigram", "bigram", 32, 8, 32, 4, 3, 65, 0),
         ("tiny head", "head", 32, 8, 32, 4, 3, 65, 0),
         ("tiny multihead", "multihead", 32, 8, 32, 4, 3, 65, 0),
         ("tiny gpt", "gpt", 32, 8, 32, 4, 3, 65, 0),
         ("nano, einsum", "heads", 12, 64, 128, 4, 4, 65, 0),  # as stage 09 writes it, against the same in PyTorch
         ("nano gpt", "gpt", 12, 64, 128, 4, 4, 65, 0),
         ("relative_key", "relative", 16, 64, 64, 4, 3, 57, 0.02),
         ("bert", "bert", 16, 128, 64, 4, 3, 61, 0.02),  # as stage 13 has it: rows of 27 to 128 tokens, 87 on average
         ("  pruned", "pruned", 16, 128, 64, 4, 3, 61, 0.02),  # half of the heads cut out, by stage 15's code
         ("translate", "translate", 32, 64, 64, 4, 2, 304, 0.02),  # stage 14: it reads 39 tokens a row on average, writes 17
         ("12 layers", "bert", 8, 128, 64, 4, 12, 61, 0.02),
         ("  checkpointed", "checkpoint", 8, 128, 64, 4, 12, 61, 0.02),  # each layer computed again, as stage 16 does
         ("nano, V 6148", "gpt", 12, 64, 128, 4, 4, 6148, 0),
         ("v11, batch 4", "gpt", 4, 256, 384, 6, 6, 65, 0.2) if QUICK else ("v11 gpt", "gpt", 64, 256, 384, 6, 6, 65, 0.2)]


class Worker:
    """A process that is told a count and answers with the seconds that many took."""

    def __init__(self, command, *arguments):
        self.process = subprocess.Popen([*command, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def begin(self, count):
        self.count = count
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()

    def end(self):
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"bench: {' '.join(self.process.args)} ended with code {self.process.wait()}")
        return float(answer) / self.count

    def seconds(self, count):
        self.begin(count)
        return self.end()

    def memory(self, which="VmHWM"):  # the most so far, or with VmRSS now
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(which):
                return int(line.split()[1]) / 1e6  # GB
        return 0

    def memory_before(self):  # with its model and text, and no step done
        self.begin(0)
        self.process.stdout.readline()
        return self.memory("VmRSS")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def flops(kind, B, T, C, heads, layers, V):
    if kind == "checkpoint":  # what is computed again is no more work done
        kind = "bert"
    if kind == "pruned":
        return flops("bert", B, T, C, heads, layers, V) - B * (0.66 * T + 3) * layers * (12 * C * C + 6 * (0.66 * T + 3) * C)
    if kind == "translate":
        S, T = 39, 17
        reading = 6 * 14 * C * C + 12 * S * C  # a layer of each: with keys and values for the cross-attention,
        writing = 6 * 14 * C * C + 12 * (T + S) * C  # and with its queries and output
        return B * (layers * (S * reading + T * writing) + T * 6 * (C * C + C * V))
    if kind == "bert":
        T = 0.66 * T + 3  # padding is no work
    per_token = {"bigram": 0, "head": 6 * (3 * C * C + C * V) + 12 * T * C, "multihead": 6 * (3 * C * C + C * V) + 12 * T * C,
                 "gpt": 6 * (12 * C * C * layers + C * V) + 12 * T * C * layers,
                 "bert": 6 * (12 * C * C * layers + C * C + C * V) + 12 * T * C * layers,
                 "relative": 6 * (12 * C * C * layers + C * V) + 18 * T * C * layers}["gpt" if kind == "heads" else kind]
    return per_token * B * T


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def best_setting(arguments, count, large):
    """PyTorch's fastest combination of its own and BLAS threads."""
    settings = [(t, b) for t in range(1, CORES + 1) for b in range(1, CORES + 1)]
    if QUICK:
        settings = [s for s in settings if s[1] == CORES]  # mostly the best
    if large:
        settings = [s for s in settings if s[1] == CORES]  # one BLAS thread is never best here
    times = {}
    for setting in settings:
        worker = Worker(PEER, *arguments, *setting)
        if not large:
            worker.seconds(1)
        times[setting] = min(worker.seconds(count) for _ in range(1 if large else 2))
        worker.close()
    return min(times, key=times.get)


class Peak:
    """The machine's sgemm speed: large products on every core at once, one BLAS thread each, as the trainer works."""

    def __init__(self, threads):
        self.worker, self.threads, self.samples = Worker(OURS, "peak", 1024, threads), threads, []

    def sample(self):
        self.samples.append(self.threads * 2 * 1024**3 / self.worker.seconds(5) / 1e9)

    def value(self):
        return statistics.median(self.samples)


def measure_training(name, kind, B, T, C, heads, layers, V, dropout, peak):
    arguments = ("train", kind, B, T, C, heads, layers, V, dropout)
    ours, single = Worker(OURS, *arguments, CORES), Worker(OURS, *arguments, 1)
    halves = [Worker(OURS, "train", kind, B // 2, *arguments[3:], 1) for _ in range(2)]
    before = [ours.memory_before()]
    first = min(ours.seconds(1) for _ in range(2))
    count = max(1, int((0.3 if QUICK else 1) / first))
    large = first > 1
    setting = best_setting(arguments, max(1, count // 20), large)
    peer = Worker(PEER, *arguments, *setting)
    before.append(peer.memory_before())
    peer.seconds(1)
    times = {"ours": [], "single": [], "apart": [], "peer": []}
    for _ in range(3 if QUICK or large else 7):
        peak.sample()
        for _ in range(1 if QUICK or large else 3):  # right after each other, as their ratios are wanted
            times["ours"].append(1e3 * ours.seconds(max(1, count // 3)))
            times["single"].append(1e3 * single.seconds(max(1, count // 6)))
            for half in halves:  # two programs with half the batch each, that have nothing to tell each other
                half.begin(max(1, count // 3))
            times["apart"].append(1e3 * max([half.end() for half in halves]))
        times["peer"].append(1e3 * peer.seconds(max(1, count // 8)))

    def gain(who):
        return statistics.median(one / two for one, two in zip(times["single"], times[who]))
    memory = ours.memory(), peer.memory()
    steps = memory[0] - before[0], memory[1] - before[1]
    for worker in (ours, single, *halves, peer):
        worker.close()
    ms = {who: statistics.median(values) for who, values in times.items()}
    work = flops(kind, B, T, C, heads, layers, V)
    row = dict(name=name, ours_ms=times["ours"], torch_ms=times["peer"], torch_threads=setting, ratio=ms["peer"] / ms["ours"],
               gflops=work / ms["ours"] / 1e6, fraction=work / ms["ours"] / 1e6 / peak.value(), two_over_one=gain("ours"),
               two_apart=gain("apart"), memory_gb=memory, steps_gb=steps)
    print(f"{name:15} {spread(times['ours']):>24} {spread(times['peer']):>24} {str(setting):>7} {row['ratio']:6.1f} "
          f"{row['gflops']:8.1f} {100 * row['fraction']:6.0f}% {row['two_over_one']:6.2f} {row['two_apart']:6.2f}  "
          f"{memory[0]:.2f} / {memory[1]:.2f}, {steps[0]:.3f} / {steps[1]:.3f}", flush=True)
    return row


def measure_growth():
    base = dict(B=8, T=64, C=128, heads=4, layers=4, V=65)
    rows = []
    print("\nHow cost grows: time per character against what the FLOPs predict, from nano's size\n")
    print(f"{'':>12} {'us/char':>10} {'grew':>8} {'FLOPs':>8}")
    for key, values in dict(T=[32, 64, 128, 256], C=[64, 128, 256, 384], layers=[1, 2, 4, 8]).items():
        workers = {v: Worker(OURS, "train", "gpt", *{**base, key: v}.values(), 0, CORES) for v in values}
        for worker in workers.values():
            worker.seconds(1)
        times = {v: [] for v in values}
        for _ in range(2 if QUICK else 7):
            for v in values:
                sizes = {**base, key: v}
                times[v].append(1e6 * workers[v].seconds(5) / sizes["B"] / sizes["T"])
        for v in values:
            sizes = {**base, key: v}
            predicted = flops("gpt", **sizes) / sizes["T"] / (flops("gpt", **{**base, key: values[0]}) / {**base, key: values[0]}["T"])
            grew = statistics.median(now / first for now, first in zip(times[v], times[values[0]]))
            rows.append(dict(what=key, value=v, us_per_char=times[v], grew=grew, flops=predicted))
            print(f"{key + ' ' + str(v):>12} {statistics.median(times[v]):10.2f} {grew:8.2f} {predicted:8.2f}", flush=True)
            workers[v].close()
    return rows


def measure_writing(name, T, C, heads, layers, V):
    ours = Worker(OURS, "write", T, C, heads, layers, V, CORES)
    plain, cached = (Worker(PEER, "write", T, C, heads, layers, V, c, 1, CORES) for c in (0, 1))
    reader = Worker(OURS, "read", 500)
    for worker in (ours, plain, cached, reader):
        worker.seconds(1)
    times = {worker: [] for worker in (ours, plain, cached, reader)}
    texts = max(1, int(0.1 / ours.seconds(T) / T))  # so that ours takes as long as the others
    for _ in range(2 if QUICK else 5):
        for worker, count, times_each in ((ours, T, texts), (plain, T if C < 200 else T // 4, 1), (cached, T, 1), (reader, 1, 1)):
            time.sleep(0.1)  # the threads of the one before still look for work
            times[worker].append(1e6 * statistics.mean(worker.seconds(count) for _ in range(times_each)))
    us = {worker: statistics.median(values) for worker, values in times.items()}
    megabytes = 4 * (12 * C * C * layers + C * V) / 1e6
    weights = megabytes / 500 * us[reader]
    for worker in times:
        worker.close()
    print(f"{name:12} {us[ours]:10.1f} {us[plain]:12.1f} {us[cached]:12.1f} {us[plain] / us[ours]:8.1f} {us[cached] / us[ours]:8.1f} "
          f"{weights:12.1f} {us[ours] / weights:8.2f}", flush=True)
    return dict(name=name, ours_us=us[ours], torch_plain_us=us[plain], torch_cached_us=us[cached], weights_us=weights,
                gigabytes_per_second=500e6 / us[reader] / 1e3)


def measure_bert_base():
    """A BERT of bert-base-chinese's size, of random numbers: loading it, and reading 128 tokens."""
    directory, T = "build/bench_bert", 128
    Worker(PEER, "save", directory, CORES, CORES).close()
    loading = Worker(OURS, "load", directory), Worker(PEER, "load", directory, CORES, CORES)
    load = [[worker.seconds(1) for worker in loading] for _ in range(4)][1:]  # the first one warms the cache
    for worker in loading:
        worker.close()
    setting = best_setting(("bert", directory, T), 2, False)
    workers = (Worker(OURS, "bert", directory, T, CORES), Worker(PEER, "bert", directory, T, *setting),
               Worker(OURS, "bert", directory, T, 1))
    for worker in workers:
        worker.seconds(1)
    read = []
    for _ in range(9):
        time.sleep(0.1)  # the threads of the one before still look for work
        read.append([1e3 * worker.seconds(3) for worker in workers])
    memory = [worker.memory() for worker in workers]
    for worker in workers:
        worker.close()
    shutil.rmtree(directory)
    ours, peer, single = ([row[i] for row in read] for i in range(3))
    ours_load, peer_load = ([row[i] for row in load] for i in range(2))
    print(f"\nA BERT of bert-base-chinese's size (12 layers, 768 wide, 12 heads, V 21,128), random numbers\n\n"
          f"{'':22} {'ours':>24} {'PyTorch':>24} {'ratio':>6}")
    for what, a, b in (("loading, s", ours_load, peer_load), (f"reading {T} tokens, ms", ours, peer), ("  on one thread", single, [])):
        print(f"{what:22} {spread(a):>24} {spread(b) if b else '':>24}" + (f" {statistics.median(b) / statistics.median(a):6.1f}" if b else ""))
    print(f"{'most memory, GB':22} {memory[0]:24.2f} {memory[1]:24.2f} {memory[1] / memory[0]:6.1f}", flush=True)
    return dict(ours_load_s=ours_load, torch_load_s=peer_load, ours_ms=ours, ours_single_ms=single, torch_ms=peer, torch_threads=setting,
                memory_gb=memory[:2])


def measure_start():
    """Seconds from launch to the first training step, on the built-in megabyte, with the first evaluation kept short."""
    def run():
        subprocess.run(["build/10_gpt", "--steps", "0", "--eval-batches", "1", "--tokens", "0", "--out", "build/bench_run"],
                       stdout=subprocess.DEVNULL, check=True)
        return float(open("build/bench_run/metrics.csv").read().split()[1].split(",")[4])
    times = [run() for _ in range(3)]
    subprocess.run("rm -rf build/bench_run*", shell=True)
    return statistics.median(times)


def main():
    begin = time.perf_counter()
    sizes = [size for size in SIZES if ONLY in (None, size[0].strip())]
    if not sizes:
        sys.exit(f"bench: no line is called {ONLY}; there are: {'; '.join(size[0].strip() for size in SIZES)}")
    # On a processor it does not know, OpenBLAS is slow until it is told what to take: PyTorch's is to take what ours does.
    os.environ["OPENBLAS_CORETYPE"] = subprocess.run(["build/bench", "core"], check=True, capture_output=True, text=True).stdout.strip()
    peak, single = Peak(CORES), Peak(1)
    for _ in range(3):
        peak.sample(), single.sample()
    print(f"sgemm peak: {peak.value():.0f} GFLOP/s on {CORES} threads, {single.value():.0f} on one\n")
    print(f"{'training':15} {'ours, ms a step':>24} {'PyTorch':>24} {'threads':>7} {'ratio':>6} {'GFLOP/s':>8} {'of peak':>7} "
          f"{'2 by 1':>6} {'apart':>6}  GB ours / PyTorch, of the steps")
    training = [measure_training(*size, peak) for size in sizes]
    if ONLY:
        return
    growth = measure_growth()
    print("\nWriting, us a character: ours with a cache, PyTorch without and with one; adding up as many numbers from memory\n")
    print(f"{'':12} {'ours':>10} {'torch plain':>12} {'torch cached':>12} {'times':>8} {'times':>8} {'weights':>12} {'ours/it':>8}")
    writing = [measure_writing("nano gpt", 64, 128, 4, 4, 65)] + ([] if QUICK else [measure_writing("v11 gpt", 256, 384, 6, 6, 65)])
    bert = None if QUICK else measure_bert_base()
    start = measure_start()
    print(f"\nfrom launch to the first training step of 10_gpt: {start:.2f} s")
    print(f"\ndone in {time.perf_counter() - begin:.0f} s; all numbers are in build/bench.json")
    with open("build/bench.json", "w") as file:
        json.dump(dict(peak_gflops=peak.samples, training=training, growth=growth, writing=writing, bert=bert, start_seconds=start), file, indent=1)


main()
