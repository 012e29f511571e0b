#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks whose launcher is played by its variables: they find each other, rank 0 says who has started
# them, and what is wrong is named. tests/tools/mpirun.sh has real launchers.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir -m 700 runtime
export XDG_RUNTIME_DIR=$work/runtime
short=("$GRADNIC" bench allreduce -b 4K -e 4K -n 1 -w 0 --timeout 20s)
slurm=(SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=3 SLURM_STEP_NODELIST=n1)

# ranks NAME...: three ranks with these variables, whose rank is %r
ranks() {
    local rank pids=()
    for rank in 0 1 2; do
        env "${@//%r/$rank}" >"out.$rank" 2>"err.$rank" &
        pids+=($!)
    done
    for rank in 0 1 2; do wait "${pids[rank]}" || fail "rank $rank: $(cat "err.$rank")"; done
    grep -q "4096 .* 0  *yes" out.0 || fail "no row: $(cat out.0)"
    [ -z "$(cat err.1 err.2)" ] || fail "only rank 0 says who has started it: $(cat err.1 err.2)"
}

said() {
    [ "$(cat err.0)" = "gradnic bench allreduce: note: $1" ] || fail "rank 0 says '$(cat err.0)', not '$1'"
}

ranks SLURM_PROCID=%r "${slurm[@]}" "${short[@]}"
said "rank 0 of 3 from Slurm (SLURM_PROCID)"
ranks OMPI_COMM_WORLD_RANK=%r OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3 PMIX_NAMESPACE=a "${short[@]}"
said "rank 0 of 3 from Open MPI (OMPI_COMM_WORLD_RANK)"
[ -z "$(ls runtime)" ] || fail "left: $(ls runtime)"

# Two steps at once do not meet each other.
ranks SLURM_PROCID=%r "${slurm[@]}" "${short[@]}" -n 20 &
other=$!
(cd runtime && ranks SLURM_PROCID=%r "${slurm[@]}" SLURM_STEP_ID=1 "${short[@]}" -n 20)
wait "$other"
rm -f runtime/out.? runtime/err.?

# RANK and WORLD_SIZE come first, and rank 0 says what it does not take. Alone they are nothing new.
ranks RANK=%r WORLD_SIZE=3 SLURM_PROCID=0 "${slurm[@]}" SLURM_STEP_NUM_TASKS=1 "${short[@]}" --rendezvous "file://$work/meet"
said "rank 0 of 3 from the environment (RANK); not taken: rank 0 of 1 from Slurm (SLURM_PROCID)"
ranks RANK=%r WORLD_SIZE=3 "${short[@]}" --rendezvous "file://$work/meet"
[ ! -s err.0 ] || fail "RANK and WORLD_SIZE need no note: $(cat err.0)"
# Options name the rank, and the launcher's job still knows where.
ranks SLURM_PROCID=%r "${slurm[@]}" "${short[@]}" --rank %r --world-size 3
[ ! -s err.0 ] || fail "--rank and --world-size need no note: $(cat err.0)"
ranks SLURM_PROCID=%r "${slurm[@]}" "${short[@]}" -q
[ ! -s err.0 ] || fail "-q: $(cat err.0)"

# -N below a launcher: each process is a job of its own.
env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "${short[@]}" -N 3 >out.0 2>err.0 || fail "-N: $(cat err.0)"
said "-N starts 3 ranks in each process; not taken: rank 0 of 2 from Open MPI (OMPI_COMM_WORLD_RANK)"
env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 "${short[@]}" -N 3 >out.0 2>err.0 || fail "-N: $(cat err.0)"
[ ! -s err.0 ] || fail "process 0 says it: $(cat err.0)"

# What is wrong is wrong usage, and the variables are named.
expect 2 "no ranks: PMI_SIZE is set in the environment, and PMI_RANK is not" env PMI_SIZE=2 "${short[@]}"
expect 2 "OMPI_COMM_WORLD_RANK is '2' in the environment: want 0 to 1" \
    env OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=2 "${short[@]}"
expect 2 "PMIx has no variable for the number of ranks" env PMIX_RANK=0 "$GRADNIC" train --data "$SOURCE/tests/data"
expect 2 "or a launcher (mpirun, srun, torchrun)" env SLURM_PROCID=0 SLURM_NTASKS=2 "${short[@]}"
expect 1 "1 of 2 ranks are on this host, and Open MPI does not say where rank 0 is: set MASTER_ADDR" \
    env OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=1 PMIX_NAMESPACE=a "${short[@]}"
expect 1 "localhost leads to loopback on this host" \
    env SLURM_PROCID=0 "${slurm[@]}" SLURM_STEP_NODELIST=localhost,n2 "${short[@]}"
