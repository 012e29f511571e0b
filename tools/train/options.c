// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>

#include "examples/train/mlp.h"
#include "tools/kit/option_values.h"
#include "tools/kit/parse.h"
#include "tools/kit/units.h"

enum {
    OPT_DATA = 0x100,
    OPT_TRAIN_IMAGES,
    OPT_TRAIN_LABELS,
    OPT_TEST_IMAGES,
    OPT_TEST_LABELS,
    OPT_CLASSES,
    OPT_AUGMENT,
    OPT_NETWORK,
    OPT_HIDDEN,
    OPT_LAYERS,
    OPT_BATCH,
    OPT_LEARNING_RATE,
    OPT_MOMENTUM,
    OPT_DECAY,
    OPT_DROP,
    OPT_DROP_STEPS,
    OPT_EPOCHS,
    OPT_STEPS,
    OPT_EVALUATE,
    OPT_SEED,
    OPT_FEEDBACK,
    OPT_OVERLAP,
    OPT_NIC,
    OPT_RATE,
    OPT_MTU,
    OPT_DUMP,
    OPT_DUMP_STEPS,
    OPT_DUMP_RANKS,
    OPT_CHECKPOINT,
    OPT_CHECKPOINT_STEPS,
    OPT_RESUME,
    OPT_BASELINE,
};

static const char doc[] =
    "Trains a digit classifier with data-parallel workers. Each computes the gradient of its own batch, gradnic's "
    "collectives average the gradients, and every worker makes the same update.\v"
    "The defaults are those of the network \"HDC\" of INCEPTIONN (MICRO 2018): five fully connected layers, 500 hidden "
    "units, batches of 25 per worker, learning rate 0.1 divided by 5 every 2000 steps, momentum 0.9, weight decay "
    "0.00005.\n\n"
    "Ranks come from -N (all on this machine), or from --rank, --world-size and --rendezvous, or from RANK, "
    "WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them. The variables of mpirun (Open MPI, MPICH) and srun "
    "are read as well. Without a `gradnic nic` on the way, --nic "
    "in-process passes all gradients through the same packet transform inside of the workers.\n\n"
    "Exit status: 0 done and all replicas identical, 1 failed, 2 wrong usage.\n\n"
    "Example:\n"
    "  gradnic train --data tests/data -N 4 --augment 24 -p dense --nic in-process";

static const struct argp_option table[] = {
    {0, 0, 0, 0, "Data:", 1},
    {"data", OPT_DATA, "DIR", 0,
     "folder with MNIST's four files (*train*images*, *train*labels*, *t10k* or *test*), .gz or not", 0},
    GN_OLD_LETTER('d', "DIR"),
    {"train-images", OPT_TRAIN_IMAGES, "FILE", 0, "the four files one by one", 0},
    {"train-labels", OPT_TRAIN_LABELS, "FILE", 0, 0, 0},
    {"test-images", OPT_TEST_IMAGES, "FILE", 0, 0, 0},
    {"test-labels", OPT_TEST_LABELS, "FILE", 0, 0, 0},
    {"classes", OPT_CLASSES, "N", 0, "labels are 0 to N - 1 (default 10)", 0},
    {"augment", OPT_AUGMENT, "COPIES", 0, "shifted, rotated and scaled copies of each training image (default 0)", 0},
    {0, 0, 0, 0, "Network and optimiser:", 2},
    {"network", OPT_NETWORK, "hdc|cnn", 0,
     "hdc: fully connected layers; cnn: two convolutions of 3 x 3, 16 and 32 channels, and two fully connected layers "
     "(default hdc)",
     0},
    {"layers", OPT_LAYERS, "N", 0, "fully connected layers (default 5)", 0},
    {"hidden", OPT_HIDDEN, "N", 0, "units of each hidden layer (default 500)", 0},
    {"batch", OPT_BATCH, "N", 0, "images per worker and step (default 25)", 0},
    {"learning-rate", OPT_LEARNING_RATE, "X", 0, "step of the optimiser (default 0.1)", 0},
    {"momentum", OPT_MOMENTUM, "X", 0, "of the optimiser (default 0.9)", 0},
    {"weight-decay", OPT_DECAY, "X", 0, "of the optimiser (default 0.00005)", 0},
    {"rate-drop", OPT_DROP, "X", 0, "divide the learning rate by X ... (default 5)", 0},
    {"rate-drop-steps", OPT_DROP_STEPS, "N", 0, "... every N steps; 0: never (default 2000)", 0},
    {"epochs", OPT_EPOCHS, "N", 0, "passes over all images and copies (default 2)", 0},
    {"steps", OPT_STEPS, "N", 0, "steps of the training (default as many as the epochs have)", 0},
    {"evaluate-steps", OPT_EVALUATE, "N", 0, "report every N steps, too (default after each epoch only)", 0},
    {"seed", OPT_SEED, "N", 0,
     "seed of the random numbers, for weights, order and copies; the same seed gives the same bits on the same kind of "
     "processor (default 1)",
     0},
    {0, 0, 0, 0, "Ranks and exchange:", 3},
    GN_RANK_OPTIONS,
    GN_EXCHANGE_OPTIONS("-k, --scale auto, --feedback or --nic in-process", "each bucket's"),
    {"feedback", OPT_FEEDBACK, 0, 0, "add the quantising error to the next gradient", 0},
    {"overlap", OPT_OVERLAP, 0, 0, "exchange each layer's gradient while the layers before it are computed", 0},
    {"baseline", OPT_BASELINE, "NAME", 0,
     "another compressor, to compare with. Of gradients, which then travel in 32 bits: truncate:BITS (also "
     "truncate-weights:BITS, truncate-both:BITS), topk:PERCENT%, qsgd:BITS, uniform:BITS. On the way, with --nic "
     "in-process: zstd:LEVEL, lz4, snappy, zlib:LEVEL, or zfp:K with --algorithm worker-aggregator",
     0},
    {0, 0, 0, 0, "In-process NICs:", 4},
    {"nic", OPT_NIC, "none|in-process", 0,
     "in-process: pass gradients through the packet transform of two NICs (default none)", 0},
    {"rate", OPT_RATE, "RATE", 0, "speed of the modelled link between them, as 200mbit, 1gbit (default unlimited)", 0},
    {"mtu", OPT_MTU, "BYTES", 0, "MTU of the wire (default 1500)", 0},
    {0, 0, 0, 0, "Output:", 5},
    {"dump-gradients", OPT_DUMP, "DIR", 0,
     "write gradients as .npy, one file for each tensor, before they are quantised", 0},
    {"dump-steps", OPT_DUMP_STEPS, "N", 0, "dump every N steps (default 100)", 0},
    {"dump-ranks", OPT_DUMP_RANKS, "N", 0, "dump the gradients of the first N ranks (default 1)", 0},
    {"checkpoint", OPT_CHECKPOINT, "FILE", 0,
     "when interrupted (Ctrl-C, SIGTERM), save the training after the step: each rank R to FILE.R", 0},
    {"checkpoint-steps", OPT_CHECKPOINT_STEPS, "N", 0, "save it every N steps, too (default only then)", 0},
    {"resume", OPT_RESUME, 0, 0,
     "go on from the checkpoint that all ranks have, with the same bits; without any, begin", 0},
    GN_FORCE_OPTION(0),
    GN_QUIET_OPTION(0),
    GN_JSON_OPTION(0),
    {0},
};

static const gn_old_name old_names[] = {{'d', OPT_DATA, "-d", NULL}, {0}};

static float real(struct argp_state *state, int key, const char *text, float low, float high)
{
    char *end;
    const float x = strtof(text, &end);
    if (end == text || *end || !isfinite(x) || x < low || x > high)
        gn_option_wrong(state, key, "'%s' is not a number from %g to %g", text, (double)low, (double)high);
    return x;
}

static bool parse_data(int key, char *arg, struct argp_state *state, gn_train_options *o)
{
    switch (key) {
    case OPT_DATA:
        o->data = arg;
        return true;
    case OPT_TRAIN_IMAGES:
        o->train_images = arg;
        return true;
    case OPT_TRAIN_LABELS:
        o->train_labels = arg;
        return true;
    case OPT_TEST_IMAGES:
        o->test_images = arg;
        return true;
    case OPT_TEST_LABELS:
        o->test_labels = arg;
        return true;
    case OPT_CLASSES:
        o->settings.classes = gn_option_unsigned(state, key, arg, 2, 256);
        return true;
    case OPT_AUGMENT:
        o->settings.copies = gn_option_unsigned(state, key, arg, 0, 1000);
        return true;
    default:
        return false;
    }
}

static bool parse_network(int key, char *arg, struct argp_state *state, gn_train_options *o)
{
    switch (key) {
    case OPT_NETWORK:
        o->settings.convolutional = gn_option_choice(state, key, arg, "hdc", "cnn");
        return true;
    case OPT_LAYERS:
        o->shape_given = true;
        o->settings.layers = gn_option_unsigned(state, key, arg, 1, GN_MLP_LAYERS_MAX);
        return true;
    case OPT_HIDDEN:
        o->shape_given = true;
        o->settings.hidden = gn_option_unsigned(state, key, arg, 1, 1 << 14);
        return true;
    case OPT_BATCH:
        o->settings.batch = gn_option_unsigned(state, key, arg, 1, 1 << 14);
        return true;
    case OPT_LEARNING_RATE:
        o->settings.sgd.rate = real(state, key, arg, 0, 100);
        return true;
    case OPT_MOMENTUM:
        o->settings.sgd.momentum = real(state, key, arg, 0, 1);
        return true;
    case OPT_DECAY:
        o->settings.sgd.weight_decay = real(state, key, arg, 0, 1);
        return true;
    case OPT_DROP:
        o->settings.rate_drop = real(state, key, arg, 1, 1e6f);
        return true;
    case OPT_DROP_STEPS:
        o->settings.rate_drop_steps = gn_option_number(state, key, arg, 0, INT64_MAX);
        return true;
    case OPT_EPOCHS:
        o->settings.epochs = gn_option_unsigned(state, key, arg, 1, 1000000);
        return true;
    case OPT_STEPS:
        o->settings.steps = gn_option_number(state, key, arg, 1, INT64_MAX);
        return true;
    case OPT_EVALUATE:
        o->settings.evaluate_steps = gn_option_number(state, key, arg, 1, INT64_MAX);
        return true;
    case OPT_SEED:
        o->settings.seed = gn_option_number(state, key, arg, 0, INT64_MAX);
        return true;
    default:
        return false;
    }
}

static bool parse_rest(int key, char *arg, struct argp_state *state, gn_train_options *o)
{
    gn_error error;
    switch (key) {
    case OPT_BASELINE:
        if (gn_baseline_parse(arg, &o->baseline, &error)) gn_option_wrong(state, key, "%s", error.text);
        return true;
    case OPT_FEEDBACK:
        o->settings.feedback = true;
        return true;
    case OPT_OVERLAP:
        o->settings.overlap = true;
        return true;
    case OPT_NIC:
        o->settings.nic_in_process = gn_option_choice(state, key, arg, "none", "in-process");
        return true;
    case OPT_RATE:
        o->settings.link_bits = gn_option_rate(state, key, arg, 1000000);
        return true;
    case OPT_MTU:
        o->settings.mtu = gn_option_unsigned(state, key, arg, 576, 65535);
        o->mtu_given = true;
        return true;
    case OPT_DUMP:
        o->dump_folder = arg;
        return true;
    case OPT_DUMP_STEPS:
        o->dump_detail = "--dump-steps";
        o->dump_steps = gn_option_number(state, key, arg, 1, INT64_MAX);
        return true;
    case OPT_DUMP_RANKS:
        o->dump_detail = "--dump-ranks";
        o->dump_ranks = gn_option_unsigned(state, key, arg, 1, 256);
        return true;
    case OPT_CHECKPOINT:
        o->checkpoint = arg;
        return true;
    case OPT_CHECKPOINT_STEPS:
        o->checkpoint_steps = gn_option_number(state, key, arg, 1, INT64_MAX);
        return true;
    case OPT_RESUME:
        o->resume = true;
        return true;
    default:
        return gn_result_option_parse(key, arg, &o->result);
    }
}

/// The old "--json FILE". The command has no arguments, so the next word can only be FILE.
static char *old_json_file(int key, const char *arg, struct argp_state *state)
{
    if (key != GN_OPTION_JSON || arg || state->next == state->argc) return NULL;
    char *file = state->argv[state->next];
    if (*file == '-' && file[1]) return NULL;
    gn_option_renamed(state, "--json FILE", "--json=FILE");
    state->next++;
    return file;
}

/// A baseline is in place of gradnic's profiles, so gradients travel as they are.
static void finish_baseline(gn_train_options *o, struct argp_state *state)
{
    const char *name = o->baseline.name;
    const bool wire = o->baseline.kind == GN_BASELINE_WIRE;
    if (o->comm.profile_given && o->comm.compress) argp_error(state, "--baseline %s goes with -p none", name);
    if (o->comm.asks) argp_error(state, "--baseline %s takes no bound and no --scale", name);
    if (o->settings.overlap) argp_error(state, "--baseline %s takes no --overlap", name);
    if (o->checkpoint) argp_error(state, "--baseline %s takes no --checkpoint: its state is not saved", name);
    if (wire && !o->settings.nic_in_process) argp_error(state, "--baseline %s needs --nic in-process", name);
    if (wire && o->settings.feedback) argp_error(state, "--baseline %s takes no --feedback", name);
    if (gn_baseline_lossy_on_wire(&o->baseline) && o->comm.algorithm != GN_WORKER_AGGREGATOR)
        argp_error(state, "--baseline %s loses bits at every hop: it needs --algorithm worker-aggregator", name);
    o->baseline.feedback = o->settings.feedback;
    o->settings.feedback = false;
    o->comm.profile_given = true;
}

/// Checks what depends on several options.
static void finish(gn_train_options *o, struct argp_state *state)
{
    const bool all_files = o->train_images && o->train_labels && o->test_images && o->test_labels;
    if (!o->data && !all_files) argp_error(state, "no data: --data DIR, or the four files one by one");
    if (o->settings.nic_in_process && o->comm.algorithm == GN_SWITCH)
        argp_error(state,
                   "--nic in-process does not see the packets of --algorithm switch: use gradnic nic and --switch-nic");
    if (o->settings.link_bits && !o->settings.nic_in_process) argp_error(state, "--rate needs --nic in-process");
    if (o->mtu_given && !o->settings.nic_in_process) argp_error(state, "--mtu needs --nic in-process");
    if (o->checkpoint && !*o->checkpoint) argp_error(state, "--checkpoint: the path is empty");
    if (o->checkpoint_steps && !o->checkpoint) argp_error(state, "--checkpoint-steps needs --checkpoint");
    if (o->dump_detail && !o->dump_folder) argp_error(state, "%s needs --dump-gradients", o->dump_detail);
    if (o->dump_folder && !*o->dump_folder) argp_error(state, "--dump-gradients: the path is empty");
    if (o->resume && !o->checkpoint) argp_error(state, "--resume needs --checkpoint");
    o->dump_mode = o->result.force ? GN_DUMP_OVER : o->resume ? GN_DUMP_AGAIN : GN_DUMP_NEW;
    if (o->settings.convolutional && o->shape_given)
        argp_error(state, "--layers and --hidden are of --network hdc; cnn has its own");
    if (o->settings.convolutional && o->checkpoint) argp_error(state, "--network cnn takes no --checkpoint");
    if (o->settings.convolutional) o->settings.layers = GN_CNN_LAYERS;
    if (o->baseline.kind != GN_BASELINE_NONE) finish_baseline(o, state);
    const bool declined = o->comm.profile_given && !o->comm.compress;
    if (o->settings.feedback && declined) argp_error(state, "--feedback needs a profile (-p)");
    o->comm.nic_in_process = o->settings.nic_in_process;
    o->comm.asks |= o->settings.feedback || o->settings.nic_in_process;
    gn_comm_options_finish(state, &o->comm);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    gn_train_options *o = state->input;
    key = gn_option_current(state, key, old_names);
    if (!arg) arg = old_json_file(key, arg, state);
    if (parse_data(key, arg, state, o) || parse_network(key, arg, state, o) ||
        gn_comm_option_parse(key, arg, state, &o->comm) || parse_rest(key, arg, state, o))
        return 0;
    if (key == ARGP_KEY_ARG) argp_error(state, "unexpected argument '%s'; --data DIR names the data", arg);
    if (key != ARGP_KEY_END) return ARGP_ERR_UNKNOWN;
    finish(o, state);
    return 0;
}

void gn_train_parse(int argc, char **argv, gn_train_options *options)
{
    *options = (gn_train_options){.program = argv[0],
                                  .settings = gn_train_settings_default(),
                                  .comm = gn_comm_options_default(),
                                  .dump_steps = 100,
                                  .dump_ranks = 1};
    gn_argp_parse(&(const struct argp){table, parse, 0, doc, 0, 0, 0}, argc, argv, options);
}
