// SPDX-License-Identifier: Apache-2.0
// A whole training program on libgradnic-comm, with nothing but public headers. Start it once per
// rank with a launcher (mpirun, srun), or with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set:
//
//   train TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS [STEPS]
//
// The files are MNIST's, packed with gzip or not. Gradients are quantised (dense, 2^-10) with error
// feedback, so that a compressing NIC or a switch on the way loses nothing.
//
// Read trainer.c first: it is the training loop. averager.c uses the library. `gradnic train` is
// the same training with options, a report and local ranks around it (tools/train).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer.h"

static gn_status print_checkpoint(void *context, const gn_checkpoint *c, gn_train_error *error)
{
    const gn_trainer *trainer = context;
    (void)error;
    if (!trainer->rank)
        printf("step %" PRIu64 ": loss %.4f, accuracy %.2f %%, weights %016" PRIx64 "\n", c->step, c->loss,
               100 * c->accuracy, c->weights);
    fflush(stdout);
    return GN_OK;
}

static gn_status load(gn_train_data *data, char **paths, unsigned classes, gn_train_error *error)
{
    gn_status wrong = gn_digits_load(&data->train, paths[0], paths[1], classes, error);
    if (!wrong) wrong = gn_digits_load(&data->test, paths[2], paths[3], classes, error);
    return wrong ? wrong : gn_digits_pair(&data->train, &data->test, error);
}

int main(int argc, char **argv)
{
    gn_train_settings settings = gn_train_settings_default();
    gn_train_data data = {0};
    gn_trainer trainer = {0};
    gn_train_error error;
    if (argc < 5 || argc > 6) {
        fprintf(stderr, "usage: %s TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS [STEPS]\n", argv[0]);
        return 2;
    }
    settings.comm.quantise = true;  // with the codec of gn_comm_config_default(): dense, 2^-10
    settings.feedback = true;
    if (argc > 5) settings.steps = strtoull(argv[5], NULL, 10);

    const gn_train_watch watch = {.context = &trainer, .checkpoint = print_checkpoint};
    gn_status status = load(&data, argv + 1, settings.classes, &error);
    if (!status) status = gn_trainer_init(&trainer, &settings, &data, &watch, &error);
    if (!status) status = gn_trainer_run(&trainer, &error);
    if (status) {
        fprintf(stderr, "rank %d: %s\n", trainer.rank, error.text);
        gn_trainer_abort(&trainer, error.text);
    }
    gn_trainer_free(&trainer);
    gn_digits_free(&data.train);
    gn_digits_free(&data.test);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
