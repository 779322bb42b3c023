# Open tasks, for docs/exercises/run: a target that a run has to reach, and no one way to it. They are lines of open.txt;
# the learner's file is a copy of a stage, the answer a diff to that stage.
open_ids() { sed -nE 's/^([0-9a-z]+) \|.*/\1/p' $here/open.txt; }
is_open() { open_ids | grep -qxF -- "$1"; }
open_task() { sed -n "s/^$1 | //p" $here/open.txt | awk -F ' [|] ' "{print \$$2}"; }  # a field: 1 stage, 4 without, 5 title

# attempt_open ID SOURCE PROGRAM, as attempt: the whole program is built, trained and measured.
attempt_open() {
    rm -f "$3"
    mkdir -p "$(dirname "$3")"
    if [ "$(open_task "$1" 4)" != - ] && grep -nwE "$(open_task "$1" 4)" "$2" >"$3.said"; then
        echo "The task is to do without this." >>"$3.said"
        return 1
    fi
    # shellcheck disable=SC2086
    $EXERCISE_CXX "$2" ${EXERCISE_LIBS#* } -o "$3" 2>"$3.errors"  # without the checks' main
    if [ ! -e "$3" ]; then
        first_errors "$3.errors" >"$3.said"
        return 2
    fi
    $here/open.py "$1" "$3" >"$3.said"
}

# The stage itself misses the target, and its answer reaches it.
prove_open() {
    local stage program=$out/proof/$1
    stage=$(open_task "$1" 1)
    no() { echo "$1"; exit 1; }
    grep -q "^| $1 |" $here/README.md || no "$1 is not in the table of README.md"
    ! $here/open.py "$1" >/dev/null || no "$1: $stage reaches the target already"
    mkdir -p "$out/proof"
    patch --quiet --fuzz=0 --output="$program.cpp" stages/"$stage".cpp "$(answer_of "$1")" ||
        no "$1: its answer does not fit $stage any more"
    attempt_open "$1" "$program.cpp" "$program" || no "$1: its answer is not right: $(cat "$program.said")"
    [ ! -s "$program.errors" ] || no "$1: the compiler warns: $(cat "$program.errors")"
}
