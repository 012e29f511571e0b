#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that cannot start: nobody waits for them, and the message says which rank and why.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

# A local rank that fails ends the others at once, not after their timeout of 30 s.
begin=$SECONDS
expect 1 "interface 'nosuch'" "$GRADNIC" bench allreduce -N 2 --interface nosuch
expect 1 "interface 'nosuch'" "$GRADNIC" train --data "$SOURCE/tests/data" -N 3 --steps 5 --interface nosuch
[ $((SECONDS - begin)) -lt 25 ] || fail "the launcher waited $((SECONDS - begin)) s for ranks that cannot come"

# The environment's rank and size are read as the options are.
expect 2 "RANK is 'x' in the environment: want 0 to 1" env RANK=x WORLD_SIZE=2 "$GRADNIC" bench allreduce
expect 2 "RANK is '2' in the environment: want 0 to 1" env RANK=2 WORLD_SIZE=2 \
    "$GRADNIC" train --data "$SOURCE/tests/data"
expect 2 "RANK is '-1' in the environment" env RANK=-1 WORLD_SIZE=2 "$GRADNIC" bench allreduce
expect 2 "WORLD_SIZE is '0' in the environment: want 1 to 256" env RANK=0 WORLD_SIZE=0 "$GRADNIC" bench allreduce
expect 2 "WORLD_SIZE is '' in the environment" env RANK=0 WORLD_SIZE= "$GRADNIC" train --data "$SOURCE/tests/data"
expect 2 "no ranks" env RANK=0 "$GRADNIC" bench allreduce
env RANK=x WORLD_SIZE=y "$GRADNIC" bench allreduce -N 2 -b 4K -e 4K -n 1 >out 2>err ||
    fail "-N does not need them: $(cat err)"
env RANK=x WORLD_SIZE=y "$GRADNIC" bench allreduce --rank 0 --world-size 1 -b 4K -e 4K -n 1 >out 2>err ||
    fail "options come before the environment: $(cat err)"

# Whoever starts it may ignore SIGCHLD, and that is passed on. Ranks are waited for all the same.
timeout -k 1 60 env --ignore-signal=CHLD "$GRADNIC" bench allreduce -N 2 -b 4K -e 4K -n 1 >out 2>err ||
    fail "with SIGCHLD ignored: $? $(cat err)"

# A message has the rank, wherever it is from.
expect 1 "rank 1: setting up" env RANK=1 WORLD_SIZE=2 \
    "$GRADNIC" bench allreduce --rendezvous tcp://127.0.0.1:1 --timeout 1s

# A rendezvous that is another file stays as it is.
echo "weights of a month" >weights
cp weights before
expect 1 "weights: is not a rendezvous file of gradnic's" \
    "$GRADNIC" bench allreduce --rank 0 --world-size 2 --timeout 2s \
    --rendezvous "file://$PWD/weights"
same weights before
ln -s weights link
expect 1 "link: is a symbolic link" \
    "$GRADNIC" bench allreduce --rank 0 --world-size 2 --timeout 2s --rendezvous "file://$PWD/link"
expect 1 "link: is a symbolic link" \
    "$GRADNIC" bench allreduce --rank 1 --world-size 2 --timeout 2s --rendezvous "file://$PWD/link"
same weights before
only weights before link out err
