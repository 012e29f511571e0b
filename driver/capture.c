// SPDX-License-Identifier: Apache-2.0
#include "driver/capture.h"

#include <pcap/pcap.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { SNAPSHOT = 65575 };  // the largest IPv6 packet

struct gn_capture {
    pcap_t *handle;
    pcap_dumper_t *dumper;
    pthread_mutex_t lock;
    uint8_t packet[SNAPSHOT];
};

gn_capture *gn_capture_open(const char *path, gn_error *error)
{
    gn_capture *capture = calloc(1, sizeof *capture);
    if (!capture) goto no_memory;
    pthread_mutex_init(&capture->lock, NULL);
    capture->handle = pcap_open_dead(DLT_RAW, SNAPSHOT);
    if (!capture->handle) goto no_memory;
    capture->dumper = pcap_dump_open(capture->handle, path);
    if (capture->dumper) return capture;
    gn_fail(error, GN_IO, "%s", pcap_geterr(capture->handle));
    gn_capture_close(capture);
    return NULL;
no_memory:
    gn_fail(error, GN_NO_MEMORY, "%s: out of memory", path);
    gn_capture_close(capture);
    return NULL;
}

gn_status gn_capture_close(gn_capture *capture)
{
    if (!capture) return GN_OK;
    gn_status status = GN_OK;
    if (capture->dumper) {
        status = pcap_dump_flush(capture->dumper) || ferror(pcap_dump_file(capture->dumper)) ? GN_IO : GN_OK;
        pcap_dump_close(capture->dumper);
    }
    if (capture->handle) pcap_close(capture->handle);
    pthread_mutex_destroy(&capture->lock);
    free(capture);
    return status;
}

void gn_capture_packet(gn_capture *capture, const uint8_t *head, size_t head_bytes, const uint8_t *body,
                       size_t body_bytes)
{
    if (!capture || head_bytes + body_bytes > SNAPSHOT) return;
    struct pcap_pkthdr header = {.caplen = (bpf_u_int32)(head_bytes + body_bytes),
                                 .len = (bpf_u_int32)(head_bytes + body_bytes)};
    gettimeofday(&header.ts, NULL);
    pthread_mutex_lock(&capture->lock);
    memcpy(capture->packet, head, head_bytes);
    if (body_bytes) memcpy(capture->packet + head_bytes, body, body_bytes);
    pcap_dump((u_char *)capture->dumper, &header, capture->packet);
    pthread_mutex_unlock(&capture->lock);
}
