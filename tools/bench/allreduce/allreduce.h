// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_BENCH_ALLREDUCE_ALLREDUCE_H
#define GRADNIC_TOOLS_BENCH_ALLREDUCE_ALLREDUCE_H
/// Parts of `gradnic bench allreduce`. options.c reads the command line. data.c makes inputs and
/// checks results. run.c measures. report.c prints.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/error.h"
#include "tools/kit/comm_options.h"
#include "tools/kit/result_options.h"

typedef struct gn_allreduce_options {
    const char *program;
    uint64_t begin, end, factor;  ///< bytes
    unsigned iterations, warmup;
    bool check, in_place, quantise;
    gn_op op;
    gn_type type;
    gn_comm_options comm;
    const char *input;
    uint64_t segment;
    bool weights, scale_target_given;
    int scale_target;
    uint64_t rate_bits;  ///< bits per second of the model's links; 0: measured
    uint64_t delay_ns;   ///< of the model's links
    bool delay_given;
    gn_result_options result;
} gn_allreduce_options;

void gn_allreduce_parse(gn_allreduce_options *options, int argc, char **argv);

/// The inputs of all ranks, so that each rank can compute any value of the sum.
typedef struct gn_allreduce_data {
    int size;
    float **values;  ///< of each rank: `counts` values of a file, repeated; NULL: made
    size_t *counts;
    double largest;  ///< magnitude of all values
} gn_allreduce_data;

gn_status gn_allreduce_data_load(gn_allreduce_data *data, const char *pattern, int size, gn_error *error);

/// Refuses a `path` to write (NULL: none) that is one of the inputs.
gn_status gn_allreduce_data_check_output(const char *pattern, int size, const char *path, gn_error *error);
void gn_allreduce_data_free(gn_allreduce_data *data);
/// Fills in `count` elements of a type.
void gn_allreduce_data_fill(const gn_allreduce_data *data, gn_type type, int rank, void *values, size_t count);

/// Checks values [first, last) of a result. With lattice or dense and no scale, the sum must be
/// exactly the sum of the values that the specification's code quantises. Otherwise the error
/// must be within the codec's bound.
/// @return how many are wrong
uint64_t gn_allreduce_data_check(const gn_allreduce_data *data, const gn_allreduce_options *options, const void *result,
                                 size_t first, size_t last);
uint64_t gn_allreduce_hash(const void *values, size_t bytes);

/// Bytes of an element, and the names of nccl-tests.
size_t gn_allreduce_width(gn_type type);
const char *gn_allreduce_type_name(gn_type type);
const char *gn_allreduce_op_name(gn_op op);

/// What an input value is in a type. Integers are its thousandths.
double gn_allreduce_element(gn_type type, float value);
void gn_allreduce_element_write(gn_type type, double value, void *elements, size_t index);
double gn_allreduce_element_read(gn_type type, const void *elements, size_t index);
/// Half a unit in the last place of a result; of binary64 one.
double gn_allreduce_rounding(gn_type type, double result);
/// A result in binary32 as the type has it.
double gn_allreduce_rounded(gn_type type, double value);

/// a, b, c of the model: seconds per message, per byte on the link, per byte of addition.
typedef struct gn_allreduce_model {
    double latency, byte, add;
} gn_allreduce_model;

double gn_allreduce_model_time(const gn_allreduce_model *model, gn_algorithm algorithm, int size, double bytes);

typedef struct gn_allreduce_result {
    uint64_t bytes, count;
    double median, least, most;          ///< seconds of the slowest rank
    double quantise, reduce, wait;       ///< mean seconds of an operation, over ranks
    double sent, received;               ///< mean bytes of values
    double sent_wire, received_wire;     ///< the same as they were sent
    double group_sent, group_sent_wire;  ///< algorithms with groups: of those, within the groups
    double resent, late, fallback;       ///< mean packets and chunks of the algorithm switch
    uint64_t wrong;
    bool identical;
    double model;
} gn_allreduce_result;

/// Measures everything, as one rank. Rank 0 prints.
/// @return exit status
int gn_allreduce_rank(const gn_allreduce_options *options, int rank, const char *rendezvous);

/// Rank 0's table and JSON.
typedef struct gn_allreduce_report {
    const gn_allreduce_options *options;
    int size;
    json_t *rows;
    gn_result_file file;
} gn_allreduce_report;

gn_status gn_allreduce_report_start(gn_allreduce_report *report, const gn_allreduce_model *model, gn_error *error);
void gn_allreduce_report_row(gn_allreduce_report *report, const gn_allreduce_result *result);
gn_status gn_allreduce_report_end(gn_allreduce_report *report, const gn_allreduce_model *model, gn_error *error);

#endif
