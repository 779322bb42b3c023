#!/usr/bin/env python3
"""Measures what two ranks of one thread each cost and gain, and carries it on paper to 1024 machines. As root, also over a link of 1 Gbit/s
between two network namespaces, which it makes and removes again: two hosts, as far as the programs can see.

An all-reduce around a ring of N sends 2 (N - 1) / N of its bytes through each link, in 2 (N - 1) messages. So a rank waits for
    2 (N - 1) (latency + bytes / N / bandwidth)
and a step takes as long as its computation, and that. Nothing of it is taken to overlap.
"""
import os, subprocess, sys, tempfile

QUICK = "--quick" in sys.argv
SECONDS = 0.1 if QUICK else 1
#         B   T    C   heads layers V
SIZES = {"nano": (12, 64, 128, 4, 4, 65), "v11": (4 if QUICK else 64, 256, 384, 6, 6, 65)}
PIECE, ONE_PIECE = 1 << 20, 1 << 40
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
TCP = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include"]
DELAY = 0.1e-3  # seconds from one host to the other
HOSTS, NET = ("bench-a", "bench-b"), "10.99.99"


def run(command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


class Link:
    """Two network namespaces and a link of 1 Gbit/s between them; mpirun in the first starts a rank in the second."""

    def __enter__(self):
        self.agent = tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False)
        self.agent.write(f'#!/bin/sh\nshift\nexec ip netns exec {HOSTS[1]} unshare --uts sh -c "hostname {HOSTS[1]}; $*"\n')
        self.agent.close()
        os.chmod(self.agent.name, 0o755)
        for host in HOSTS:
            subprocess.run(["ip", "netns", "del", host], capture_output=True)  # of a run that was killed
            run(["ip", "netns", "add", host])
        run(["ip", "link", "add", HOSTS[0], "netns", HOSTS[0], "type", "veth", "peer", "name", HOSTS[1], "netns", HOSTS[1]])
        self.delay = DELAY
        for number, host in enumerate(HOSTS, 1):
            run(["ip", "-n", host, "addr", "add", f"{NET}.{number}/24", "dev", host])
            for device in ("lo", host):
                run(["ip", "-n", host, "link", "set", device, "up"])
            qdisc = ["tc", "-n", host, "qdisc", "add", "dev", host, "root"]
            try:
                run(qdisc + ["netem", "rate", "1gbit", "delay", f"{DELAY}s", "limit", "100000"])
            except subprocess.CalledProcessError:  # not every kernel has netem
                run(qdisc + ["tbf", "rate", "1gbit", "burst", "128k", "latency", "100ms"])
                self.delay = 0
        return self

    def __exit__(self, *_):
        os.unlink(self.agent.name)
        for host in HOSTS:
            subprocess.run(["ip", "netns", "del", host], capture_output=True)

    def command(self):
        return ["ip", "netns", "exec", HOSTS[0], *MPIRUN, "-n", "2", "-H", f"{NET}.1:1,{NET}.2:1", "--mca", "plm_rsh_agent", self.agent.name,
                "--mca", "plm_rsh_no_tree_spawn", "1", *TCP, f"{NET}.0/24"]


def bench(launcher, *arguments):
    said = run([*launcher, "build/mpi/bench", *map(str, arguments)])
    return [[float(word) for word in line.split()] for line in said.splitlines()]


def size_of(count):
    return f"{count / 2**20:.0f} MB" if count >= 2**20 else f"{count / 2**10:.0f} KB"


def flops(B, T, C, heads, layers, V):
    """Of a step, as bench.py counts them."""
    return B * T * (6 * (12 * C * C * layers + C * V) + 12 * T * C * layers)


def ring(N, count, latency, bandwidth):
    return 2 * (N - 1) * (latency + count / N / bandwidth)


def fit(times):
    """Latency and bandwidth of a link, from all-reduces of the smallest and the largest size between two."""
    (small, quick), (large, long) = times[0], times[-1]
    bandwidth = (large - small) / (long - quick)
    return max(0, quick - small / bandwidth) / 2, bandwidth


def measure(ways):
    reductions, steps = {}, {}
    for name, launcher in ways.items():
        if name != "one rank":
            reductions[name] = bench(launcher, "reduce", SECONDS)
        for size, shape in SIZES.items():
            for piece in (PIECE, ONE_PIECE) if name != "one rank" else (PIECE,):
                steps[name, size, piece] = bench(launcher, "step", *shape, piece, 5 * SECONDS)[0]
    return reductions, steps


def report(reductions, steps):
    print("Adding up over 2 ranks, ms\n")
    names = list(reductions)
    print(f"{'bytes':>8}" + "".join(f"{name:>16}" for name in names))
    for row in zip(*reductions.values()):
        print(f"{size_of(row[0][0]):>8}" + "".join(f"{1e3 * seconds:16.3f}" for _, seconds in row))
    print("\nA step of 2 ranks, one thread each, and of it waiting for the other; pieces of 1 MB that leave while backward\n"
          "computes, and all at once when it is done\n")
    print(f"{'model':6}{'link':>16}{'one rank, ms':>14}{'two, ms':>10}{'waiting':>9}{'times as fast':>15}{'at once, ms':>13}{'waiting':>9}")
    for size in SIZES:
        alone = steps["one rank", size, PIECE][1]
        for name in names:
            (_, step, wait), (_, last, last_wait) = steps[name, size, PIECE], steps[name, size, ONE_PIECE]
            print(f"{size:6}{name:>16}{1e3 * alone:14.1f}{1e3 * step:10.1f}{wait / step:9.0%}{alone / step:15.2f}{1e3 * last:13.1f}{last_wait / last:9.0%}")
    fits = {name: fit(times) for name, times in reductions.items()}
    print("\nA message takes latency + bytes / bandwidth\n")
    for name, (latency, bandwidth) in fits.items():
        print(f"{name:>16}{1e6 * latency:10.1f} us{bandwidth * 8e-9:10.2f} Gbit/s")
    print("\nA step of 2 ranks, predicted: half the computation, and the ring\n")
    for size in SIZES:
        count, alone, _ = steps["one rank", size, PIECE]
        for name in names:
            predicted, measured = alone / 2 + ring(2, count, *fits[name]), steps[name, size, PIECE][1]
            print(f"{size:6}{name:>16}{1e3 * predicted:10.1f} ms predicted{1e3 * measured:10.1f} measured{measured / predicted:8.2f}")
    predict(steps)


def predict(steps):
    speeds = (1, 10, 100)
    machines = [2**i for i in range(1, 11)]
    print(f"\nOn paper: N machines of one core, {1e3 * DELAY:g} ms between them. Each keeps its batch, so a step has N times the rows.\n"
          "How many times as fast as one machine, and the share of that in N\n")
    print("     N      1 Gbit/s         10 Gbit/s        100 Gbit/s")
    for size, times in (("nano", 1), ("v11", 1), ("v11", 100)):
        count, alone, _ = steps["one rank", size, PIECE]
        work, alone = flops(*SIZES[size]) / 1e9, alone / times
        print(f"{size}: {work:.1f} GFLOP a step, {count / 2**20:.1f} MB of gradients; machines of {work / alone:.0f} GFLOP/s" + (f", {times} times as fast" if times > 1 else ""))
        for N in machines:
            cells = [N * alone / (alone + ring(N, count, DELAY, speed * 1.25e8)) for speed in speeds]
            print(f"{N:6}" + "".join(f"{cell:12.1f}{cell / N:6.0%}" for cell in cells))
    print("\nThe same batch shared by all, as far as its rows go\n")
    for size, (B, *_) in SIZES.items():
        count, alone, _ = steps["one rank", size, PIECE]
        print(f"{size}, {B} rows")
        for N in [n for n in machines if n <= B] or [B]:
            cells = [alone / (alone / N + ring(N, count, DELAY, speed * 1.25e8)) for speed in speeds]
            print(f"{N:6}" + "".join(f"{cell:12.1f}{cell / N:6.0%}" for cell in cells))


def main():
    ways = {"one rank": [], "shared memory": [*MPIRUN, "-n", "2"], "loopback": [*MPIRUN, "-n", "2", *TCP, "lo"]}
    if os.geteuid() == 0:
        with Link() as link:
            ways["1 Gbit/s"] = link.command()
            print("link: 1 Gbit/s" + (f" and {1e3 * link.delay:g} ms\n" if link.delay else ", and no delay, as this kernel has no netem\n"))
            report(*measure(ways))
    else:
        print("link: none, as only root makes network namespaces\n")
        report(*measure(ways))


main()
