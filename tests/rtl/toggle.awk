# SPDX-License-Identifier: Apache-2.0
# From Verilator's counts of toggles: for each module of rtl/ (-v root=) how many bits of its
# signals ever changed, in any instance of any bench that counts them, and which signals have bits
# that never did. Fails below -v least= percent of all, and if no bench counted one of -v modules=.
# Records are C '<01>key<02>value...' COUNT with keys f (file), l (line), o (signal).
function field(text, key,    at, end) {
    at = index(text, "\001" key "\002")
    if (!at) return ""
    text = substr(text, at + 3)
    end = index(text, "\001")
    return end ? substr(text, 1, end - 1) : text
}
/^C / {
    quote = match($0, /' [0-9]+$/)
    text = substr($0, 4, quote - 4)
    file = field(text, "f")
    if (index(file, root) != 1) next
    file = substr(file, length(root) + 1)
    bit = field(text, "o")
    key = file SUBSEP bit
    if (!(key in count)) {
        count[key] = 0
        if (!(file in points)) names[++files] = file
        points[file]++
    }
    count[key] += substr($0, quote + 2)
}
END {
    for (key in count) {
        split(key, part, SUBSEP)
        if (count[key] > 0) {
            reached[part[1]]++
            continue
        }
        signal = part[2]
        sub(/\[[0-9:]*\]$/, "", signal)
        still[part[1], signal]++
    }
    for (key in still) {
        split(key, part, SUBSEP)
        list[part[1]] = list[part[1]] " " part[2] (still[key] > 1 ? "(" still[key] ")" : "")
    }
    printf "%-32s %7s %8s %8s  %s\n", "module", "bits", "changed", "%", "signals with bits that did not (how many)"
    for (i = 1; i <= files; i++) {
        file = names[i]
        printf "%-32s %7d %8d %8.1f %s\n", file, points[file], reached[file], 100 * reached[file] / points[file], list[file]
        all += points[file]; good += reached[file]
    }
    for (i = split(modules, module, " "); i > 0; i--)
        if (!(module[i] in points)) { printf "coverage.sh: no bench counts the toggles of %s (WITHIN in tests/rtl/CMakeLists.txt)\n", module[i]; bad = 1 }
    if (bad) exit 1
    if (!all) { print "coverage.sh: nothing was counted"; exit 1 }
    printf "%-32s %7d %8d %8.1f\n", "all", all, good, 100 * good / all
    if (100 * good < least * all) { printf "coverage.sh: less than %s %%\n", least; exit 1 }
}
