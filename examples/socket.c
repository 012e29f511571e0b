// SPDX-License-Identifier: Apache-2.0
// How a program opts in to compression: it marks a socket before connect() and listen(). Here it
// sends gradients to itself on loopback; over a gradnic NIC the same bytes would be compressed.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COUNT = 64 };

static int marked_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int tos = 0x28;  // DSCP AF11, what the NIC's default rule compresses
    if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos)) return -1;
    return fd;
}

int main(void)
{
    float values[COUNT], arrived[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = (float)i / COUNT;

    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int listener = marked_socket(), client = marked_socket();
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1)) return 1;
    if (getsockname(listener, (struct sockaddr *)&address, &length)) return 1;
    if (connect(client, (struct sockaddr *)&address, length)) return 1;
    const int server = accept(listener, NULL, NULL);

    // Values and nothing else: little-endian binary32, from the first byte on.
    if (write(client, values, sizeof values) != sizeof values) return 1;
    if (recv(server, arrived, sizeof arrived, MSG_WAITALL) != sizeof arrived) return 1;

    int tos;
    socklen_t size = sizeof tos;
    if (getsockopt(client, IPPROTO_IP, IP_TOS, &tos, &size)) return 1;
    printf("%d values over a socket with ToS 0x%02x\n", COUNT, (unsigned)tos);
    close(client);
    close(server);
    close(listener);
    return tos == 0x28 && !memcmp(values, arrived, sizeof values) ? 0 : 1;
}
