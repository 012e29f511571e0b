#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # jq expands it
# `gradnic estimate`: bytes and limits against a hand calculation, ratios against `gradnic ratio`.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# holds FILE FILTER: a statement about a result
holds() {
    jq -e "$2" "$1" >jq.out 2>&1 || fail "$1: not so: $2 ($(cat jq.out)): $(cat "$1")"
}

# Links are the limit at 1 Mbit/s. A ring sends 2(N-1)/N of a gradient, rank 0 of a
# worker-aggregator N-1 gradients, a worker one to the switch; TCP fills 1448 of 1514 bytes.
"$GRADNIC" estimate --json --rate 1mbit --world-size 8 --size 1M --ratio 10 >slow.json
way='def way($w): .rates[0].ways[] | select(.way == $w); def near($a; $b): (($a / $b) - 1 | fabs) < 1e-6;'
holds slow.json "$way [.rates[0].ways[] | .limit == \"link\"] | all"
holds slow.json "$way near(way(\"ring\").link_bytes; 1048576 * 2 * 7 / 8 * 1514 / 1448)"
holds slow.json "$way near(way(\"ring\").seconds; way(\"ring\").link_bytes * 8 / 1e6)"
holds slow.json "$way near(way(\"worker-aggregator\").link_bytes; 1048576 * 7 * 1514 / 1448)"
holds slow.json "$way near(way(\"switch\").link_bytes; 1048576 * 1514 / 1448)"
holds slow.json "$way near(way(\"switch-dense\").link_bytes * 10; way(\"switch\").link_bytes)"
holds slow.json "$way near(way(\"ring-nic\").gain; 10 * 1412 / 1448)"

# Fast links are no limit: a ring then takes what the processors take, and NICs in software, which
# take more of them, no longer pay. The rate up to which they pay is where both take as long.
"$GRADNIC" estimate --json --rate 1000gbit >fast.json
holds fast.json "$way way(\"ring\").limit != \"link\" and way(\"ring-nic\").gain < 1"
rate=$(jq "$way way(\"ring-nic\").pays_up_to_bits_per_s | floor" fast.json)
"$GRADNIC" estimate --json --rate "$rate" >even.json
holds even.json "$way (way(\"ring-nic\").gain - 1 | fabs) < 0.001"

# More cores and faster cores never make anything slower.
"$GRADNIC" estimate --json --rate 10gbit --cores 0.5 >few.json
"$GRADNIC" estimate --json --rate 10gbit --cores 8 --speed 2 >many.json
jq -s '[.[0].rates[0].ways, .[1].rates[0].ways] | transpose | map(.[1].seconds <= .[0].seconds) | all' \
    few.json many.json >faster
[ "$(cat faster)" = true ] || fail "more cores make it slower"

# Ratios of files: one rank's own is that of `gradnic ratio`; those of sums are smaller.
files=("$DATA"/cnn-it100-w{0,1,2,3}.npy.gz)
"$GRADNIC" estimate --json -k 10 "${files[@]}" >files.json
"$GRADNIC" ratio --json -p dense -k 10 --against none "${files[0]}" >ratio.json
jq -s '(.[0].ratio.to_switch / .[1].files[0].results[0].ratio - 1 | fabs) < 0.02' files.json ratio.json >near
[ "$(cat near)" = true ] || fail "another ratio than gradnic ratio's: $(jq .ratio files.json)"
holds files.json '.ratio.from_switch < .ratio.ring and .ratio.ring < .ratio.to_switch'
holds files.json '.bytes == ('"$(jq '.files[0].values' ratio.json)"' * 4)'

# Text: one table a rate, and -q leaves only those. A file is written only where there is none.
"$GRADNIC" estimate --rate 200mbit,1gbit,10gbit --json=out.json >text
[ "$(grep -c '^Links of' text)" -eq 3 ] || fail "not three tables: $(cat text)"
grep -q 'Processors as measured on' text || fail "no origin: $(cat text)"
"$GRADNIC" estimate -q >text
! grep -q 'Processors' text || fail "-q prints the origin"
expect 1 "out.json" "$GRADNIC" estimate --json=out.json
"$GRADNIC" estimate -f --json=out.json >/dev/null

# A file is read for each rank, and its notes are printed once. estimate has no --cast.
"$PYTHON" -c 'import numpy as np; np.save("wide.npy", np.array([1, 1e300]))'
"$GRADNIC" estimate wide.npy >/dev/null 2>notes
note="note: wide.npy: float64 read as float32, without loss; 1 beyond its range became infinite"
[ "$(grep -c "$note" notes)" -eq 1 ] ||
    fail "notes: $(cat notes)"

# Bad input.
expect 2 "--bound needs FILEs" "$GRADNIC" estimate -k 10
expect 2 "--profile needs FILEs" "$GRADNIC" estimate -p lattice
"$PYTHON" -c 'import numpy as np; np.save("short.npy", np.ones(10, "<f4")); np.save("none.npy", np.ones(0, "<f4"))'
expect 1 "short.npy: has 10 values" "$GRADNIC" estimate "${files[0]}" short.npy
expect 1 "none.npy: has no values" "$GRADNIC" estimate none.npy
expect 1 "missing.npy" "$GRADNIC" estimate missing.npy
expect 2 "--ratio" "$GRADNIC" estimate --ratio 0
expect 2 "--ratio" "$GRADNIC" estimate --ratio nan
expect 2 "--ratio" "$GRADNIC" estimate --ratio 5 "${files[0]}"
expect 2 "--rate" "$GRADNIC" estimate --rate 1gbit,,
expect 2 "--cores" "$GRADNIC" estimate --cores -1
# Where times would leave their range, the limits are said.
expect 2 "--cores: '1e-300' is not a number from 0.001 to 4096" "$GRADNIC" estimate --cores 1e-300
expect 2 "--speed: '1e-300' is not a number from 0.001 to 100" "$GRADNIC" estimate --speed 1e-300
expect 2 "--ratio: '1e-300' is not a number from 0.001 to 1e+06" "$GRADNIC" estimate --ratio 1e-300
slow=(--rate 1kbit --world-size 65536 --size 1024T --cores 0.001 --speed 0.001 --ratio 0.001)
"$GRADNIC" estimate "${slow[@]}" >slow
! grep -q " 0 min 0 s\| inf\| nan" slow || fail "times of a slow network: $(cat slow)"
expect 2 "--world-size" "$GRADNIC" estimate --world-size 1
expect 2 "5 FILEs for 4 ranks" "$GRADNIC" estimate "${files[@]}" "${files[0]}"
expect 2 "--bound" "$GRADNIC" estimate -p lattice -k 64 "${files[0]}"
