#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proofs about the hardware. Each must hold, and each must fail for its mutants: a proof that
# nothing can break says nothing.
#
#   tests/formal/run.sh                     all, with a table of results and seconds
#   tests/formal/run.sh --quick             those that take seconds, each with its first mutant.
#                                           Of all others it sees that they change something
#   tests/formal/run.sh NAME...             some
#   tests/formal/run.sh --help              this, and which there are
#
# A proof is a file NAME.v here with a module `proof`; its first lines say how it is run:
#   // method: pdr             by induction over all time (AIGER, berkeley-abc)
#   //         sat             without time, with wires for registers (Yosys)
#   //         bmc N           for N cycles out of reset
#   //         induct          by one step of induction (Yosys), for which what is asserted is
#   //                         enough: where sums of many counters are too much for pdr
#   // sources: FILE...        of rtl/; the last one is the block
#   // stubs: FILE...          of this folder: modules that stand for those of rtl/
#   // cut: CELL...            of the block: cut out, so that what they give is any
#   // expose: WIRE...         of the block: made ports, so that `proof` can speak of them
#   // parameters: P=1 P=2     the proof is run once with each
#   // reduce: SED             a change to the sources that makes them smaller
#   // simplify: no            pdr takes it as it is: simplifying would take longer than it saves
#   // seconds: N              more than --quick has time for
#   // mutant: FILE SED        a fault in a source, one a line
# sources, cut, expose, reduce and mutant may have more than one line.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rtl=$here/../../rtl
include="-I$rtl/codec -I$rtl/nic -I$rtl/switch" # where headers (.vh) are
limit=1800 # seconds for one

# Proofs by name: files with a method; the others are parts of them.
known=$(grep -l '^// method:' "$here"/*.v | xargs -n 1 basename -s .v | paste -s -d ' ')
usage() {
    sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    echo "Proofs: $known"
}

quick=0 names=()
for word in "$@"; do
    case $word in
    --quick) quick=1 ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "run.sh: unknown option '$word' (--quick, --help)" >&2; exit 2 ;;
    *)
        [[ " $known " == *" $word "* ]] || { echo "run.sh: there is no proof '$word'; there are: $known" >&2; exit 2; }
        names+=("$word")
        ;;
    esac
done
for tool in yosys berkeley-abc; do
    command -v "$tool" >/dev/null || { echo "run.sh: $tool is not installed (scripts/setup --check)" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# directive NAME KEY: the lines that the proof has for it
directive() { sed -n "s|^// $2: *||p" "$here/$1.v"; }

# attempt NAME PARAMETER DIRECTORY [mutant]: prints "holds", "fails" or what went wrong; the sources
# are in DIRECTORY. A mutant is first looked at for a few cycles: most fail there at once, where a
# proof over all time would search for long.
attempt() {
    local name=$1 parameter=$2 dir=$3 mutant=${4:-} method depth=0 top sources=() stubs=() cut='' expose='' set='' script
    read -r method depth <<<"$(directive "$name" method)"
    for f in $(directive "$name" sources); do sources+=("$dir/$(basename "$f")"); done
    for f in $(directive "$name" stubs); do stubs+=("$here/$f"); done
    top=$(basename "${sources[-1]}" .v)
    for c in $(directive "$name" cut); do cut+=" $top/c:$c"; done
    for w in $(directive "$name" expose); do expose+=" $top/w:$w"; done
    [ -z "$parameter" ] || set="chparam -set ${parameter/=/ } proof;"
    script="read_verilog -formal $include ${sources[*]} ${stubs[*]}; "
    if [ -n "$cut" ]; then
        script+="hierarchy -check -top $top; select -assert-count $(wc -w <<<"$cut") $cut; cutpoint $cut; select -clear; hierarchy -check -top $top; "
    fi
    if [ -n "$expose" ]; then
        script+="hierarchy -check; proc; flatten; select -assert-count $(wc -w <<<"$expose") $expose; select -clear; expose $expose; "
    fi
    script+="read_verilog -formal $include -overwrite ${stubs[*]} $here/common.v $here/$name.v; $set hierarchy -check -top proof; proc; flatten; "
    if [ "$method" = sat ]; then
        script+="opt_clean -purge; techmap -map $here/wires.v; opt -full; select -assert-none t:\$dff t:\$adff t:\$dffe; "
        # whatever is free is 0 or 1, never undefined
        script+="select -set free t:\$anyseq t:\$anyconst %u %co1:+[Y] t:* %d; "
        script+="tee -q -o $dir/sat.log sat -prove-asserts -set-assumes -set-def-inputs -set-def @free -timeout $limit"
        yosys -q -p "$script" >"$dir/yosys.log" 2>&1 || { tail -n 3 "$dir/yosys.log"; return; }
        if grep -q 'no model found: SUCCESS' "$dir/sat.log"; then echo holds
        elif grep -q 'model found: FAIL' "$dir/sat.log"; then echo fails
        else echo "no answer in $limit s"; fi
        return
    fi
    script+="setundef -undriven -anyseq; opt -full; async2sync; memory_map; dffunmap; setundef -undriven -anyseq; opt -full; "
    if [ "$method" = induct ] && [ -z "$mutant" ]; then
        script+="tee -q -o $dir/sat.log sat -prove-asserts -set-assumes -tempinduct -maxsteps 1 -timeout $limit"
        yosys -q -p "$script" >"$dir/yosys.log" 2>&1 || { tail -n 3 "$dir/yosys.log"; return; }
        if grep -q 'Induction step proven: SUCCESS' "$dir/sat.log"; then echo holds; else tail -n 2 "$dir/sat.log"; fi
        return
    fi
    script+="simplemap; techmap; opt -fast; dffunmap; abc -g AND -fast; opt_clean; "
    script+="write_aiger $dir/proof.aig"
    yosys -q -p "$script" >"$dir/yosys.log" 2>&1 || { tail -n 3 "$dir/yosys.log"; return; }
    # registers without a first value begin with any; constraints are folded in; all assertions are
    # one
    local prove="pdr -T $limit" read="read_aiger $dir/proof.aig; logic; undc; strash; fold; orpos"
    [ -n "$(directive "$name" simplify)" ] || prove="scorr; dc2; $prove"
    if [ -n "$mutant" ] && [ "$method" != bmc ]; then
        timeout 90 berkeley-abc -c "$read; bmc3 -F 16 -T 30" >"$dir/abc.log" 2>&1 || true
        if grep -qE 'was asserted in frame' "$dir/abc.log"; then echo fails; return; fi
        [ "$method" = pdr ] || { echo "no fault in 16 cycles"; return; }
    fi
    [ "$method" = pdr ] || prove="bmc3 -F $depth -T $limit"
    timeout $((limit + 60)) berkeley-abc -c "$read; $prove" >"$dir/abc.log" 2>&1 || true
    if grep -qE 'was asserted in frame' "$dir/abc.log"; then echo fails
    elif grep -qE 'Property proved|No output (was asserted|failed|asserted) in '"$depth"' frames' "$dir/abc.log"; then echo holds
    else tail -n 2 "$dir/abc.log"; fi
}

# copy NAME DIRECTORY: the sources, reduced as the proof wants them
copy() {
    mkdir -p "$2"
    local reduce
    for f in $(directive "$1" sources); do cp "$rtl/$f" "$2/"; done
    reduce=$(directive "$1" reduce)
    [ -z "$reduce" ] || sed -i -E "$reduce" "$2"/*.v
}

# mutates FILE SED: whether the change makes another file of it
mutates() { ! sed -E "$2" "$1" | cmp -s - "$1"; }

failed=0 number=0
row() { printf '%-34s %-9s %-8s %6s s  %s\n' "$@"; }

prove() {
    local name=$1 parameter=$2 start=$SECONDS answer dir=$work/$((number++)) file change
    copy "$name" "$dir"
    answer=$(attempt "$name" "$parameter" "$dir")
    [ "$answer" = holds ] || failed=1
    row "$name${parameter:+ $parameter}" "$(directive "$name" method | cut -d' ' -f1)" "$answer" $((SECONDS - start)) ""
    while read -r file change; do
        start=$SECONDS dir=$work/$((number++))
        copy "$name" "$dir"
        file=$dir/$(basename "$file")
        if mutates "$file" "$change"; then
            sed -i -E "$change" "$file"
            answer=$(attempt "$name" "$parameter" "$dir" mutant)
        else
            answer="the mutant changes nothing"
        fi
        if [ "$answer" = fails ]; then answer=refuted; else failed=1; fi
        row "" mutant "$answer" $((SECONDS - start)) "$change"
        [ $quick = 0 ] || break
    done < <(directive "$name" mutant)
    grep -q '^// mutant: ' "$here/$name.v" || { echo "run.sh: $name has no mutant" >&2; failed=1; }
}

# stale NAME: says which mutants change nothing, of those that --quick does not run
stale() {
    local name=$1 dir=$work/stale file change
    copy "$name" "$dir"
    while read -r file change; do
        mutates "$dir/$(basename "$file")" "$change" && continue
        echo "run.sh: a mutant of $name changes nothing: $change" >&2
        failed=1
    done < <(directive "$name" mutant)
    rm -r "$dir"
}

if [ ${#names[@]} -eq 0 ]; then
    for name in $known; do
        [ $quick = 0 ] || stale "$name"
        [ $quick = 0 ] || [ -z "$(directive "$name" seconds)" ] || continue
        names+=("$name")
    done
fi
for name in "${names[@]}"; do
    read -r -a parameters <<<"$(directive "$name" parameters)"
    for parameter in "${parameters[@]-}"; do prove "$name" "$parameter"; done
done
[ $failed = 0 ] || { echo "run.sh: not all is as it should be" >&2; exit 1; }
echo "all proofs hold, all mutants are refuted"
