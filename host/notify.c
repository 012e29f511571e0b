// SPDX-License-Identifier: Apache-2.0
#include "host/notify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/clock.h"

void gn_notify(gn_notice notice)
{
    static const char *const texts[] = {
        [GN_NOTICE_READY] = "READY=1", [GN_NOTICE_RELOADING] = "RELOADING=1", [GN_NOTICE_STOPPING] = "STOPPING=1"};
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char text[64];
    const char *path = getenv("NOTIFY_SOCKET");
    const size_t length = path ? strlen(path) : 0;
    if (!length || length >= sizeof to.sun_path) return;
    memcpy(to.sun_path, path, length);
    if (*path == '@') *to.sun_path = 0;  // an abstract address
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return;
    (void)snprintf(text, sizeof text, "%s\nMONOTONIC_USEC=%" PRIu64, texts[notice], gn_now() / 1000);
    const socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to, bytes);
    close(fd);
}
