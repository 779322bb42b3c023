#!/usr/bin/env python3
"""Keeps the lessons true. Run from the top of the repository:

    docs/lessons/lessons.py update     fill quotes, outputs and numbers into the lessons, and draw the pictures
    docs/lessons/lessons.py check      fail where a lesson differs from the code or from its recorded runs
    docs/lessons/lessons.py record     do the runs of runs.txt again and keep what they print (all, or those named)
    docs/lessons/lessons.py repeat     do the runs again and compare with what is kept

What a lesson may hold, all of it invisible when rendered:

    <!-- quote stages/03_head.cpp head -->      the code between //> head and //< head; the fence below it is filled
    <!-- quote docs/lessons/experiments/no_mask.diff -->         a whole file, without its first two lines if it is a diff
    <!-- output 03_head 1-8 -->                 lines of what a recorded run printed; the fence below it is filled; 8- is to the end
    1.569<!-- 03_head/run.json best.val_loss -->   the number before it is the one in the recorded file, rounded as written (where a
                                                key has a dot: heads/2.1/val_loss)
    29<!-- 03_head/metrics.csv seconds -->      the same, from the last line of a column
    2.31<!-- variance 64 2 -->                  the same, from word 2 of the line that begins with the word 64
    66<!-- forgets 2.0 3.1 -->                  the same, where word 3 is 66/184: 3.2 is the 184
    `At the`<!-- sample 03_head -->             the beginning of what a recorded run wrote; with a number, of that line of it
    <!-- by hand -->                            in a paragraph whose numbers are worked out in it
    [`tril`](../../common/tensor/masks.h)       a name that has to be in the file it leads to
"""
import json, os, re, shlex, shutil, subprocess, sys, textwrap

HERE = "docs/lessons"
SCRATCH = "build/lessons"
PAGES = ["README.md", "data/README.md", "docs/scaling.md", "docs/exercises/README.md"] + sorted(f"{HERE}/{name}" for name in os.listdir(HERE) if name.endswith(".md"))
problems, checks = [], 0


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def check(true, problem):
    global checks
    checks += 1
    if not true:
        problems.append(problem)


# --- what lessons quote ---------------------------------------------------------------------------------------------------


def quote(path, marker=None):
    lines = read(path).splitlines()
    if path.endswith(".diff"):
        return "\n".join(line for line in lines[2:] if not re.match(r"@@|[ +-]\s*//[<>] ", line))
    if not marker:
        return "\n".join(lines)
    begin, end = ([i for i, line in enumerate(lines) if line.strip() in (f"//{arrow} {marker}", f"#{arrow} {marker}")] for arrow in "><")
    if len(begin) != 1 or len(end) != 1:
        raise ValueError(f"{path} has no piece marked {marker}")
    piece = lines[begin[0] + 1:end[0]]
    indent = min(len(line) - len(line.lstrip()) for line in piece if line.strip())
    return "\n".join(line[indent:] for line in piece)


def wrapped(line):
    """A long line of a sample, in pieces that fit a page; those of a command can be pasted."""
    parts = [part.rstrip() for part in textwrap.wrap(line, 120, drop_whitespace=False, tabsize=1)] or [""]
    return [part + " \\" for part in parts[:-1]] + parts[-1:] if line.startswith("$ ") else parts


def output(name, lines=None):
    text = read(f"{HERE}/recorded/{name}/output.txt").splitlines()
    picked = []
    for part in (lines or f"1-{len(text)}").split(","):
        first, dash, last = part.partition("-")
        last = last or (str(len(text)) if dash else first)
        if int(last) > len(text):
            raise ValueError(f"the output of {name} has {len(text)} lines, not {part}")
        if picked:
            picked.append("...")
        picked += text[int(first) - 1:int(last)]
    return "\n".join(part for line in picked for part in wrapped(line))


def number(name, key, word=1):
    """A number from a recorded run: a key of its JSON file, the last of a column of its CSV file, or a word of a line that it printed."""
    if name.endswith(".csv"):
        heading, *rows = (line.split(",") for line in read(f"{HERE}/recorded/{name}").splitlines())
        return float(rows[-1][heading.index(key)])
    if name.endswith(".json"):
        value = json.loads(read(f"{HERE}/recorded/{name}"))
        for part in key.split("/" if "/" in key else "."):
            value = value[int(part) if isinstance(value, list) else part]
        return float(value)
    found = [line.split() for line in read(f"{HERE}/recorded/{name}/output.txt").splitlines() if line.split()[:1] == [key]]
    if len(found) != 1:
        raise ValueError(f"{len(found)} lines of {name}'s output begin with {key}")
    word, _, half = str(word).partition(".")
    text = found[0][int(word)]
    return float((text.split("/")[int(half) - 1] if half else text).rstrip("%,").replace(",", ""))


def as_written(value, pattern):
    """The number in the form of another: as many decimals, a sign, thousands, per cent."""
    percent = pattern.endswith("%")
    decimals = len(pattern.rstrip("%").partition(".")[2])
    text = f"{100 * value if percent and abs(value) <= 1 else value:{'+' if pattern[0] == '+' else ''}{',' if ',' in pattern else ''}.{decimals}f}"
    return text + ("%" if percent else "")


FENCED = re.compile(r"(<!-- (quote|output) ([^>]*?) -->\n+```\w*\n)(.*?)(\n?```)", re.S)
SAMPLE = re.compile(r"`[^`\n]*`(<!-- sample (\S+)(?: (\d+))? -->)")
NUMBER = re.compile(r"([+-]?\d[\d,]*(?:\.\d+)?%?)(\**)<!-- (\S+) (\S+)(?: (\d+(?:\.[12])?))? -->")


def filled(page, text):
    """The page as it should be."""
    def fence(match):
        try:
            return match[1] + {"quote": quote, "output": output}[match[2]](*match[3].split()) + "\n```"
        except (OSError, ValueError) as error:
            check(False, f"{page}: {match[3]}: {error}")
            return match[0]

    def numeral(match):
        try:
            value = number(match[3], match[4], match[5] or 1)
            return as_written(value, match[1]) + match[0][len(match[1]):]
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            check(False, f"{page}: {match[0]}: {error!r}")
            return match[0]

    def sample(match):
        try:
            lines = json.loads(read(f"{HERE}/recorded/{match[2]}/run.json"))["sample"].strip().splitlines()
            return f"`{lines[int(match[3] or 1) - 1][:58]}`{match[1]}"
        except (OSError, KeyError, IndexError) as error:
            check(False, f"{page}: {match[0]}: {error!r}")
            return match[0]

    return NUMBER.sub(numeral, SAMPLE.sub(sample, FENCED.sub(fence, text)))


# --- pictures ---------------------------------------------------------------------------------------------------------------


def listed(file):
    """NAME: COMMAND, one a line; a line that starts with # is a comment."""
    for line in read(f"{HERE}/{file}").splitlines():
        if line and not line.startswith("#"):
            name, _, command = line.partition(": ")
            yield name, command


def drawn(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=True, cwd=HERE).stdout


# --- checks -----------------------------------------------------------------------------------------------------------------


def anchors(path):
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in re.findall(r"^#+ (.*)", read(path), re.M)}


def prose(text):
    """What is neither code, nor mathematics, nor a comment; numbers with a source are gone as well."""
    text = NUMBER.sub("", text)
    paragraphs = [p for p in re.split(r"\n\s*\n", re.sub(r"```.*?```", "", text, flags=re.S)) if "<!-- by hand -->" not in p]
    return re.sub(r"\$\$.*?\$\$|\$[^$\n]*\$|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", "", "\n\n".join(paragraphs), flags=re.S)


def check_page(page, targets):
    text = read(page)
    fresh = filled(page, text)
    for was, now in zip(text.splitlines(), fresh.splitlines()):
        if was != now:
            check(False, f"{page} is stale: it says '{was.strip()[:90]}', it should be '{now.strip()[:90]}'; run `make lessons`")
            break
    check(fresh.count("\n") == text.count("\n"), f"{page} is stale; run `make lessons`")
    for piece in re.findall(r"(?<![\w.])[+-]?\d+\.\d+", prose(text)):
        check(False, f"{page}: the number {piece} has no source")
    for alternative, link in re.findall(r"(!?\[[^\]]*\])\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.S)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        check(os.path.exists(path), f"{page}: the link {link} leads nowhere")
        if anchor and os.path.exists(path):
            check(anchor in anchors(path), f"{page}: {link}: no such heading")
        if re.fullmatch(r"\[`\w+`\]", alternative) and os.path.isfile(path):
            check(re.search(rf"\b{alternative[2:-2]}\b", re.sub(r"//.*", "", read(path))), f"{page}: there is no {alternative[2:-2]} in the code of {path}")
        if alternative.startswith("!"):
            check(len(alternative) > 20, f"{page}: {link} needs a sentence of alternative text")
    for words in re.findall(r"(?:^\$ |`)((?:make|build/|docs/|data/)[^`\n]*)", text, re.M):
        if "..." not in words:
            check_command(page, shlex.split(words.split("#")[0]), targets)


def check_command(page, words, targets):
    if words[0] == "make":
        for target in words[1:]:
            if target[:1] in "-#":
                continue
            if "=" in target:
                check(target.split("=")[0] in targets["variables"], f"{page}: make knows no {target}")
                if target.startswith("NAME="):
                    check(os.path.exists(f"{HERE}/experiments/{target[5:]}.diff"), f"{page}: there is no experiment {target[5:]}")
                if target.startswith("N="):
                    check(any(f.startswith(target[2:] + "_") for f in os.listdir("docs/exercises")) or f"\n{target[2:]} | " in read("docs/exercises/open.txt"), f"{page}: there is no exercise {target[2:]}")
            else:
                check(target in targets["make"] or re.fullmatch(r"diff-\d\d", target), f"{page}: make has no target {target}")
    elif words[0].startswith("build/"):
        check(words[0] in targets["programs"] or os.path.exists(f"{HERE}/programs/{os.path.basename(words[0])}.cpp"), f"{page}: there is no program {words[0]}")
        for word in words[1:]:
            if re.match(r"--\w", word):
                check(word.split("=")[0] in targets["options"], f"{page}: {words[0]} has no option {word}")
    elif re.match(r"(docs|data)/[\w./]*\w$", words[0]):
        check(os.path.exists(words[0]), f"{page}: there is no {words[0]}")


def known_targets():
    makefile = read("Makefile")
    stages = [name[:-4] for name in os.listdir("stages")]
    options = set()
    for stage in stages:
        if "<mpi.h>" in read(f"stages/{stage}.cpp"):  # make mpi builds it, and it has the options of 01
            continue
        for command in ("train", "sample", "translate", "fill"):
            said = subprocess.run([f"build/{stage}", command, "--help"], capture_output=True, text=True).stdout
            options |= set(re.findall(r"--[\w-]+", said))
    return dict(make=set(re.findall(r"^([\w-]+):", makefile, re.M)) | set(stages), variables=set(re.findall(r"\b([A-Z]+)=", makefile)) | {"NAME", "N"},
                programs={f"build/{directory}{stage}" for stage in stages for directory in ("", "mpi/")} | {"build/corpus", "build/report"}, options=options)


def check_times():
    """A lesson says how long it takes to read, as the table of lessons does, and the way for those in a hurry is as long as it says."""
    table = read(f"{HERE}/README.md")
    minutes = {page: int(n) for page, n in re.findall(r"^\| \[\w+\]\((\w+\.md)\) \|.*?\| (\d+) min \|", table, re.M)}
    for page, n in minutes.items():
        check(f"Read {n} minutes" in read(f"{HERE}/{page}"), f"{HERE}/README.md says that {page} takes {n} minutes, and {page} does not")
    hurry = re.search(r"\*\*In a hurry\?\*\*(.*?)(\d+) minutes", table, re.S)
    total = sum(minutes[page] for page in re.findall(r"\]\((\w+\.md)\)", hurry[1]))
    check(total == int(hurry[2]), f"{HERE}/README.md: the way for those in a hurry takes {total} minutes, not {hurry[2]}")


def check_map():
    """The left column of the map holds every name of the original that is listed."""
    rows = "".join(re.findall(r"^\|(.*?)\|", read(f"{HERE}/bert_map.md"), re.M))
    said = set(re.findall(r"\w+", "".join(re.findall(r"`[^`]*`", rows))))
    for name in re.sub(r"#.*", "", read(f"{HERE}/bert_map.txt")).split():
        check(name in said, f"{HERE}/bert_map.md says nothing of the original's {name}")


def check_all():
    targets, everything = known_targets(), "".join(map(read, PAGES))
    check_times()
    check_map()
    for page in PAGES:
        check_page(page, targets)
    for stage, lines in re.findall(r"\| \[(\d\d_\w+)\]\([^)]*\) \| [^|]* \| (\d+) \|", read("README.md")):
        now = read(f"stages/{stage}.cpp").count("\n")
        check(int(lines) == now, f"README.md: {stage} has {now} lines, not {lines}")
    for name, command in listed("pictures.txt"):
        check(f"pictures/{name}.svg" in everything, f"no lesson shows the picture {name}")
        path = f"{HERE}/pictures/{name}.svg"
        check(os.path.exists(path) and read(path) == drawn(command), f"{path} is stale; run `make lessons`")
    for name, _ in listed("runs.txt"):
        check(os.path.exists(f"{HERE}/recorded/{name}/output.txt"), f"the run {name} is not recorded; run {sys.argv[0]} record {name}")
        check(re.search(rf"(output |<!-- ){name}\b", everything) or re.search(rf"recorded/{name}\b", read(f"{HERE}/pictures.txt")), f"no lesson uses the run {name}")
    for name in os.listdir(f"{HERE}/experiments"):
        path = f"{HERE}/experiments/{name}"
        stage = read(path).split()[1]
        done = subprocess.run(["patch", "--dry-run", "--fuzz=0", "-o", "/dev/null", stage, path], capture_output=True)
        check(done.returncode == 0, f"{path} does not fit {stage} any more")
        check(f"NAME={name[:-5]}" in everything or f"experiments/{name}" in everything, f"no lesson does the experiment {name}")
    for problem in problems:
        print(problem)
    print(f"test cases: {checks} | {checks - len(problems)} passed | {len(problems)} failed")
    return 1 if problems else 0


# --- runs -------------------------------------------------------------------------------------------------------------------


def do_run(name, command):
    """Runs the command where it finds build/ and puts its runs/ aside; returns what is to be kept, by file name."""
    os.makedirs(SCRATCH, exist_ok=True)
    for link, target in (("build", ".."), ("data", "../../data")):
        if not os.path.islink(f"{SCRATCH}/{link}"):
            os.symlink(target, f"{SCRATCH}/{link}")
    shown, _, real = command.partition(" => ")
    print(f"{name}: {real or command}", flush=True)
    out = re.search(r"--out ([^\s)]+)", real or command)
    directory = f"{SCRATCH}/{out[1] if out else 'runs/' + name}"
    if " sample" not in command:
        subprocess.run(["rm", "-rf", directory], check=True)
    done = subprocess.run(real or command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=SCRATCH)
    if done.returncode > 2:
        sys.exit(f"{name} could not be run: {done.stdout}")
    kept = {"output.txt": f"$ {shown}\n{done.stdout}"}
    for file in ("run.json", "metrics.csv"):
        if os.path.exists(f"{directory}/{file}"):
            kept[file] = read(f"{directory}/{file}")
    return kept


def differences(name, command, kept, now):
    """Losses may differ a little from machine to machine, and what is written, remembered and attended to more: only losses are
    compared, and the numbers of programs that need no trained model and measure no speed."""
    def compare(what, was, is_now, allowed):
        if abs(was - is_now) > allowed:
            yield f"{name}: {what} was {was:g}, now {is_now:g}"

    if "run.json" in kept:
        was, is_now = json.loads(kept["run.json"]), json.loads(now["run.json"])
        for part, key in (("best", "val_loss"), ("final", "val_loss"), ("baselines", "unigram")):
            yield from compare(f"{part} {key}", was[part][key], is_now[part][key], 0.05 * was[part][key] if was[part][key] < 10 else float("inf"))
    elif re.fullmatch(r"build/(lessons/(?!memory|copying|ablation|heads|caches|cost|segments|matmul|roofline|alive)\w+|corpus .*)", command):
        was, is_now = (re.findall(r"[-+]?\d+\.?\d*(?:e[-+]\d+)?", text["output.txt"]) for text in (kept, now))
        if len(was) != len(is_now):
            yield f"{name} printed {len(was)} numbers, now {len(is_now)}"
        for number_was, number_now in zip(was, is_now):
            yield from compare("a number it prints", float(number_was), float(number_now), 0.2 * abs(float(number_was)) + (0 if "e" in number_was else 0.02))


def record(names, compare):
    failed = 0
    for name, command in listed("runs.txt"):
        if names and name not in names:
            continue
        if "mpi" in command and not shutil.which("mpirun"):
            print(f"{name}: skipped, as there is no mpirun; make mpi installs it", flush=True)
            continue
        missing = [text for text in re.findall(r"data/texts/[\w-]+\.txt", command) if not os.path.exists(text)]
        if missing:
            print(f"{name}: skipped, as there is no {missing[0]}; data/fetch {os.path.basename(missing[0])[:-4]} gets it", flush=True)
            continue
        now, directory = do_run(name, command), f"{HERE}/recorded/{name}"
        if compare:
            kept = {file: read(f"{directory}/{file}") for file in os.listdir(directory)}
            for difference in differences(name, command, kept, now):
                failed = 1
                print(difference)
        else:
            subprocess.run(["rm", "-rf", directory], check=True)
            for file, text in now.items():
                write(f"{directory}/{file}", text)
    if compare:
        print("differences: see above" if failed else "every run came out as recorded")
    return failed


def update():
    for name, command in listed("pictures.txt"):
        write(f"{HERE}/pictures/{name}.svg", drawn(command))
    for page in PAGES:
        write(page, filled(page, read(page)))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    command, names = (sys.argv + ["check"])[1], sys.argv[2:]
    sys.exit({"update": update, "check": check_all, "record": lambda: record(names, False), "repeat": lambda: record(names, True)}[command]())
