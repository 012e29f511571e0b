// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_TOOLS_FILES_VALUES_H
#define GRADNIC_TOOLS_FILES_VALUES_H
/// Values of a file or of standard input ("-"), in order, as binary32. .npy is NumPy's, .f32 is
/// raw little-endian binary32, .gn is decompressed on the way. Each may be packed with gzip (.gz).
/// .npz, .safetensors and .pt (torch.save) are files of tensors: their floating-point tensors come
/// one behind the other, or those that a name chooses. Other types than binary32 are converted.
/// Memory does not grow with the file.
///
/// The name's suffix tells the format. Otherwise the first bytes tell it: .npy and .gn have a
/// magic. Standard input without a magic is raw .f32. A file with neither needs `format`.

#include <stddef.h>
#include <stdint.h>

#include <gradnic/container.h>

#include "input.h"
#include "net/error.h"
#include "npy.h"

typedef enum gn_format {
    GN_FORMAT_AUTO,
    GN_FORMAT_F32,
    GN_FORMAT_NPY,
    GN_FORMAT_GN,
    GN_FORMAT_NPZ,
    GN_FORMAT_SAFETENSORS,
    GN_FORMAT_PT
} gn_format;

/// How the formats are called, for help texts.
#define GN_FORMAT_NAMES "npy, f32, gn, npz, safetensors, pt"

/// The files that can be read, by their names, for help texts.
#define GN_VALUES_FILES ".npy, .f32, .gn, also .gz; .npz, .safetensors, .pt, and FILE:NAME for one tensor"

/// One of GN_FORMAT_NAMES, or "auto".
gn_status gn_parse_format(const char *text, gn_format *format, gn_error *error);

typedef struct gn_values gn_values;

/// What to read of a file, and how.
typedef struct gn_values_choice {
    gn_format format;
    const char *tensor;  ///< a name, or a glob; NULL: all floating-point tensors
    bool cast;           ///< float64 values beyond binary32 become infinite; otherwise they are an error
    bool any;            ///< tensors of any type are listed; do not read them
} gn_values_choice;

/// Splits "FILE:NAME" where FILE exists and the whole does not. `*tensor` points into `argument`,
/// or is NULL. The caller frees `*file`.
gn_status gn_values_split(const char *argument, char **file, const char **tensor, gn_error *error);

/// Opens a source. Errors name the file, and the byte if there is one.
gn_status gn_values_open_choice(gn_values **values, const char *path, const gn_values_choice *choice, gn_error *error);

/// The same with "FILE:NAME" for one tensor, nothing else chosen, and `cast`: for commands without
/// these options, which print gn_values_note().
gn_status gn_values_open(gn_values **values, const char *path, gn_format format, gn_error *error);

/// Takes over an input: gn_values_close() closes it, and so does a failure here.
gn_status gn_values_from_input(gn_values **values, gn_input *input, const gn_values_choice *choice, gn_error *error);

/// Reads up to `capacity` values; fewer only at the end, where `*got` is 0. It is an error if the
/// file ends within its values or goes on behind them.
gn_status gn_values_read(gn_values *values, float *buffer, size_t capacity, size_t *got, gn_error *error);

/// How many values there are; UINT64_MAX if only the end tells (raw values from gzip or a pipe).
uint64_t gn_values_count(const gn_values *values);

/// The format that was found.
gn_format gn_values_format(const gn_values *values);

/// The array's header; NULL unless the format is npy.
const gn_npy *gn_values_npy(const gn_values *values);

/// The tensors that are read, in order. A file of one array is one tensor without a name.
const gn_tensor_list *gn_values_tensors(const gn_values *values);

/// The tensors that were chosen but are not floating point.
const gn_tensor_list *gn_values_left_out(const gn_values *values);

/// From now on gn_values_read() ends with each tensor. gn_values_next() goes on to the next one.
void gn_values_by_tensor(gn_values *values);
void gn_values_next(gn_values *values);

/// For a progress line: how far it is read, and how far that goes (0: not known).
uint64_t gn_values_position(const gn_values *values);
uint64_t gn_values_size(const gn_values *values);

/// What reading values of this type as binary32 did to them, so far.
const gn_cast *gn_values_cast(const gn_values *values, gn_dtype dtype);

/// Prints notes: which tensors are left out, and what became of values that were not binary32.
/// `bound`: 2^-k, or 0 when there is none.
void gn_values_note(const gn_values *values, const char *program, double bound);

/// The container, for a caller that reads blocks itself instead of calling gn_values_read(). NULL
/// unless the format is gn.
gn_container_reader *gn_values_container(const gn_values *values);

/// Adds the words to a status that the container returned.
gn_status gn_values_check_container(const gn_values *values, gn_status status, gn_error *error);

/// The input, for names and progress.
gn_input *gn_values_input(gn_values *values);

/// NULL is allowed.
void gn_values_close(gn_values *values);

/// Reads a whole file into memory: `*all` holds `*count` values; the caller frees it. `path` may be
/// "FILE:NAME". Prints notes, see gn_values_note().
gn_status gn_values_load(const char *path, gn_format format, float **all, size_t *count, gn_error *error);
/// The same without notes, for a file that was read before.
gn_status gn_values_load_again(const char *path, gn_format format, float **all, size_t *count, gn_error *error);

#endif
