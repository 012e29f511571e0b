// SPDX-License-Identifier: Apache-2.0
#include "ring/bootstrap/listen.h"

#include <errno.h>
#include <string.h>

#include "net/interface.h"
#include "net/tcp.h"

gn_status gn_bootstrap_listen(gn_bootstrap *boot, const gn_endpoint *toward, gn_error *error)
{
    const gn_comm_config *config = boot->config;
    const char *interface = boot->rendezvous.one_host && !config->interface ? "lo" : config->interface;
    const gn_status status = gn_interface_select(interface, toward, &boot->local, error);
    if (status) return status;
    gn_endpoint data = boot->local, oob = boot->local;
    const bool weights = config->algorithm == GN_WORKER_AGGREGATOR && config->aggregator_weights;
    const bool wants_data = config->algorithm != GN_SWITCH;
    if (wants_data) boot->data_listener = gn_tcp_listen(&data, false, weights ? 0 : (uint8_t)config->data_tos);
    if (!wants_data || boot->data_listener >= 0) boot->oob_listener = gn_tcp_listen(&oob, false, 0);
    if (boot->oob_listener < 0) {
        const int reason = errno;
        char name[GN_ENDPOINT_TEXT];
        return gn_fail(error, GN_IO, "cannot listen at %s: %s", gn_endpoint_format(&boot->local, name),
                       strerror(reason));
    }
    boot->address = gn_address_from(&boot->local.ip);
    boot->address.data_port = wants_data ? data.port : 0;
    boot->address.oob_port = oob.port;
    return GN_OK;
}
