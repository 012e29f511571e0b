// SPDX-License-Identifier: Apache-2.0
// How a message begins.
#include "ring/failure.h"
#include "ring/peers/peers.h"

static void send_locked(gn_comm *comm, gn_letter *letter)
{
    gn_peer *peer = gn_peer_of_locked(comm, letter->rank);
    if (!peer) {
        gn_letters_finish_locked(comm->peers, letter, gn_oob_no_memory(comm));
        return;
    }
    gn_letters_enqueue_locked(peer, letter);
    gn_peer_call_locked(comm, peer);
    gn_peer_serve_locked(comm, peer);
    gn_letters_let_go_locked(comm, peer, letter);
}

gn_status gn_letter_post(gn_comm *comm, gn_letter *letter)
{
    gn_peers *peers = comm->peers;
    gn_lock(&peers->lock);
    const gn_status status = gn_oob_state(comm);
    if (!status) {
        letter->moved = gn_now();
        letter->behind = peers->all;
        if (peers->all) peers->all->before = letter;
        peers->all = letter;
        if (!letter->sends)
            gn_letters_want_locked(comm, letter);
        else if (letter->rank == comm->rank)
            gn_letters_keep_own_locked(comm, letter);
        else
            send_locked(comm, letter);
    }
    gn_unlock(&peers->lock);
    return status;
}
