#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/prose: where sentences end, what is not a sentence, and what is too long.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

repeat() { for ((i = 0; i < $1; i++)); do printf '%s ' "$2"; done; }
long=$(repeat 41 word)
prose() { "$PYTHON" "$SOURCE/scripts/prose" "$@"; }
# said STATUS TEXT FILE: scripts/prose ends so, and says that
said() {
    local got=0
    prose "$3" >out || got=$?
    [ "$got" = "$1" ] || fail "$3: exit status $got: $(cat out)"
    grep -qF -- "$2" out || fail "$3: no '$2' in: $(cat out)"
}

# 41 words are too many, wherever they break; 40 are not. The line is where the sentence begins.
{
    echo "A first sentence is here."
    echo "Now $long" | fold -s -w 90
    echo "end."
} >long.md
said 1 'long.md:2: sentence of 43 words: "Now word' long.md
for _ in 1 2 3; do echo "Here are four words."; done >average.md
echo "$(repeat 39 word | fold -s -w 90) end." >>average.md
said 0 'short lines, short sentences' average.md
for _ in 1 2 3; do echo "$(repeat 19 word | fold -s -w 90) end."; done >average.md
said 1 'average.md: average sentence of 20.0 words' average.md

# What is not a sentence may be as long as it likes.
few=$(repeat 41 w)
cat >rest.md <<END
# A heading $few

| a table | $long |
| --- | --- |
| $long | $long |

    code $long

\`\`\`c
code $long
\`\`\`

* an item

      code in an item $long

<!-- table x $long -->
[link]: http://example.com/$long

One sentence, e.g. this one (Li et al., 2018; E. Alpaydin, C. Kaynak). gradnic begins the next one.
END
said 0 'short lines' rest.md

# Sentences end at full stops, also ahead of code and small letters, and with their paragraph or
# item.
{
    for _ in $(seq 12); do echo "This is divided by N. gradnic adds 2^-10 and 0.5. \`code. here\` is a word."; done
    for _ in $(seq 9); do printf '* an item that has no full stop\n'; done
} >ends.md
said 0 'short lines' ends.md
# ... but not at these.
repeat 9 "as said, e.g. by Li et al. in (E. Alpaydin) or vs. that" >abbreviations.md
fold -s -w 90 abbreviations.md >folded.md
said 1 'sentence of 117 words' folded.md

# Lines: of documents but for URLs, of comments but not of code.
wide=$(repeat 30 abcd)
printf '%s\n' "$wide" >wide.md
said 1 'wide.md:1: line of 150 columns' wide.md
printf 'See https://example.com %s\n' "${wide// /}" >url.md
said 0 'short lines' url.md
printf '/* short\n   %s */\nint a; // %s\n// %s\n' "$wide" "$wide" "$wide" >wide.c
said 1 'wide.c:2: comment of' wide.c
if ! grep -q 'wide.c:4: comment' out || grep -q 'wide.c:3:' out; then fail "comments in C: $(cat out)"; fi
printf '#!/bin/sh\necho %s\n# %s\n' "$wide" "$wide" >wide.sh
said 1 'wide.sh:3: comment of' wide.sh
printf '"""Short.\n%s"""\nx = ("a",\n"%s")\n' "$wide" "$wide" >wide.py
said 1 'wide.py:2: comment of' wide.py
! grep -q 'wide.py:4' out || fail "a string is no comment: $(cat out)"
