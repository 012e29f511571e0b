#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/circles finds circles of files, arrows of folders that point back, and private headers.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
: "${CC:=cc}"

# A tree of three files: ring/a.c needs ring/b.c, that needs net/c.c.
mkdir -p scripts ring/include/gradnic cmodel/include/gradnic switch/include/gradnic net tools build
cp "$SOURCE/scripts/circles" scripts
echo 'int b(void); int a(void); int a(void) { return b(); }' >ring/a.c
echo 'int c(void); int b(void); int b(void) { return c(); }' >ring/b.c
echo 'int c(void); int c(void) { return 1; }' >net/c.c
echo 'int d(void);' >ring/d.h
echo 'int main(void) { return 0; }' >tools/main.c
git init -q .
look() {
    local file
    git add -A
    for file in ring/a.c ring/b.c net/c.c; do
        mkdir -p "build/CMakeFiles/all.dir/${file%/*}"
        "$CC" -I. -c "$file" -o "build/CMakeFiles/all.dir/$file.o"
    done
    scripts/circles build >found 2>&1
}
finds() {
    if look; then fail "no '$1'"; fi
    grep -qF -- "$1" found || fail "no '$1' in: $(cat found)"
}

look || fail "a tree without circles: $(cat found)"
echo 'int a(void); int c(void); int b(void); int b(void) { return c() + a(); }' >ring/b.c
finds "ring/b.c -> ring/a.c: a"
echo 'int c(void); int b(void); int b(void) { return c(); }' >ring/b.c
look || fail "a circle that is gone: $(cat found)"

echo '#include "ring/d.h"' >>net/c.c
finds "net/c.c includes ring/d.h"
sed -i '/include/d' net/c.c
echo '#include "ring/d.h"' >>tools/main.c
finds "tools/main.c includes ring/d.h"
rm -rf build
expect 1 "build first" scripts/circles build
