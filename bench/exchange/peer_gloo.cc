// SPDX-License-Identifier: Apache-2.0
// Gloo's ring allreduce over its TCP transport, timed as `gradnic bench allreduce` times it. The
// program forks its ranks itself.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "peer.h"

static void run(int rank, int size, size_t count, int iterations, int warmup, const char *folder)
{
    gloo::transport::tcp::attr attributes;
    attributes.hostname = "127.0.0.1";
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(folder);
    auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
    context->connectFullMesh(store, device);

    std::vector<float> send(count), recv(count);
    for (size_t i = 0; i < count; i++) send[i] = peer_value(rank, i);
    std::vector<double> times;
    for (int i = -warmup; i < iterations; i++) {
        gloo::BarrierOptions barrier(context);
        gloo::barrier(barrier);
        double start = peer_now();
        gloo::AllreduceOptions options(context);
        options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
        options.setInput(send.data(), count);
        options.setOutput(recv.data(), count);
        void (*sum)(void *, const void *, const void *, size_t) = &gloo::sum<float>;
        options.setReduceFunction(gloo::AllreduceOptions::Func(sum));
        gloo::allreduce(options);
        if (i >= 0) times.push_back(peer_now() - start);
    }
    double median = peer_median(times.data(), times.size());
    std::vector<double> all((size_t)size);
    gloo::AllgatherOptions gather(context);
    gather.setInput(&median, 1);
    gather.setOutput(all.data(), all.size());
    gloo::allgather(gather);
    if (rank == 0)
        printf("{\"time_us\": %.1f, \"wrong\": %llu}\n", *std::max_element(all.begin(), all.end()) * 1e6,
               (unsigned long long)peer_wrong(recv.data(), count, size));
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: peer_gloo BYTES ITERATIONS WARMUP RANKS FOLDER\n");
        return 2;
    }
    size_t count = strtoull(argv[1], nullptr, 10) / sizeof(float);
    int iterations = atoi(argv[2]), warmup = atoi(argv[3]), size = atoi(argv[4]), failed = 0;
    for (int rank = 0; rank < size; rank++) {
        pid_t pid = fork();
        if (pid) continue;
        try {
            run(rank, size, count, iterations, warmup, argv[5]);
        } catch (const std::exception &e) {
            fprintf(stderr, "peer_gloo: rank %d: %s\n", rank, e.what());
            return 1;
        }
        return 0;
    }
    for (int status; wait(&status) > 0;) failed |= status;
    return failed != 0;
}
