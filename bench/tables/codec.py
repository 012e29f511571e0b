# SPDX-License-Identifier: Apache-2.0
"""Tables of the codec: speed, ratios, errors, and what other choices would give."""

from markdown import bold, claims_table, digits, percent, speed, table, times
from results import codec_rows, kernel_of

ORDER = ("dense", "lattice", "paper", "zfp", "zstd:1", "snappy", "lz4", "zlib:6")
NAMES = {"zstd:1": "zstd -1", "zlib:6": "zlib -6"}
DATA = ("files", "mixed", "raw", "16bit", "32bit", "zero", "tiny")
SIZES = ("memory", "cache", "packet")
BOUNDS = (6, 8, 10, 12, 15)


def name_of(codec):
    return NAMES.get(codec, f"`{codec}`" if codec in ("dense", "lattice", "paper") else codec)


def error_of(row):
    """The largest error, in words that can be compared."""
    bounds = row["max_error"] * 2**10
    return "0" if bounds == 0 else "2^-10" if 0.99 < bounds <= 1 else f"{bounds:.2g} * 2^-10"


def both(row, way):
    """Speed, and how that stands to memcpy's."""
    over = row[f"{way}_over_memcpy"]
    return f"{speed(row[f'{way}_bytes_per_second'])} ({times(over, 1 if over >= 0.095 else 2)} memcpy)"


def codec(results):
    rows = codec_rows(results, "files", "memory")
    kernel = kernel_of(results["codec"]["results"]["results"])
    return table(
        ("", "ratio", "compress, GB/s", "decompress, GB/s", "largest error"),
        [
            (
                name_of(c),
                digits(rows[c]["ratio"]),
                both(rows[c], "compress"),
                both(rows[c], "decompress"),
                error_of(rows[c]),
            )
            for c in ORDER
            if c in rows
        ],
        results["codec"],
        f"One core, kernel `{kernel}`, real gradients, larger than the caches. Lossy codecs have a bound of 2^-10.",
    )


def codec_packets(results):
    rows = codec_rows(results, "files", "packet")
    return table(
        ("", "ratio", "compress, GB/s", "decompress, GB/s"),
        [
            (
                name_of(c),
                digits(rows[c]["ratio"]),
                speed(rows[c]["compress_bytes_per_second"]),
                speed(rows[c]["decompress_bytes_per_second"]),
            )
            for c in ORDER
            if c in rows
        ],
        results["codec"],
        "The same in pieces of 1448 bytes, each its own stream, from a cache.",
    )


def codec_kernels(results):
    rows = sorted(
        (r for r in results["codec"]["results"]["results"] if r["codec"] in ("dense", "lattice", "paper")),
        key=lambda r: (
            DATA.index(r["data"]),
            SIZES.index(r["size"]),
            ORDER.index(r["codec"]),
            ["scalar", "avx2", "gfni", "avx512", "avx512-gfni", "neon"].index(r["kernel"]),
        ),
    )
    return table(
        (
            "data",
            "size",
            "profile",
            "kernel",
            "ratio",
            "compress, GB/s",
            "x memcpy",
            "decompress, GB/s",
            "x memcpy",
            "C/8",
            "D/8",
        ),
        [
            (
                r["data"],
                r["size"],
                r["codec"],
                r["kernel"],
                digits(r["ratio"]),
                speed(r["compress_bytes_per_second"]),
                digits(r["compress_over_memcpy"]),
                speed(r["decompress_bytes_per_second"]),
                digits(r["decompress_over_memcpy"]),
                digits(r["compress_ticks_per_8"], 1),
                digits(r["decompress_ticks_per_8"], 1),
            )
            for r in rows
        ],
        results["codec"],
        "C/8 and D/8 are ticks of the time stamp counter for 8 values.",
    )


def codec_dense(results):
    """dense beside lattice, both with AVX2."""
    found = {
        (r["data"], r["codec"]): r
        for r in results["codec"]["results"]["results"]
        if r["kernel"] == "avx2" and r["size"] == "cache"
    }
    words = {
        "files": "real gradients",
        "zero": "zeros",
        "mixed": "0, 8, 16 bits at random",
        "raw": "0, 8, 16, 32 bits at random",
        "16bit": "all of 16 bits",
        "32bit": "all raw",
    }
    rows = []
    for data, about in words.items():
        ours, other = found[data, "dense"], found[data, "lattice"]
        rows.append(
            (
                about,
                *(
                    cell
                    for way in ("compress", "decompress")
                    for cell in (
                        digits(other[f"{way}_ticks_per_8"], 1),
                        digits(ours[f"{way}_ticks_per_8"], 1),
                        times(ours[f"{way}_ticks_per_8"] / other[f"{way}_ticks_per_8"]),
                    )
                ),
            )
        )
    return table(
        ("data", "compress: `lattice`", "`dense`", "", "decompress: `lattice`", "`dense`", ""),
        rows,
        results["codec"],
        "Ticks of the time stamp counter for 8 values; both with AVX2, from a cache.",
    )


def codec_claims(results):
    return claims_table(results["codec"]["results"]["claims"], results["codec"])


def by_bound(results, part, codec, key):
    """A figure of a codec at each bound."""
    return [
        next(
            r[key]
            for r in results["ratio"]["results"][part]["results"]
            if r["codec"] == codec and r.get("bound_exp") == k
        )
        for k in BOUNDS
    ]


def ratio(results):
    part = results["ratio"]["results"]["all"]
    rows = [
        (name_of(c), *(digits(x) for x in by_bound(results, "all", c, "ratio")))
        for c in ("dense", "lattice", "paper", "zfp")
    ]
    rows += [
        (name_of(r["codec"]), *[digits(r["ratio"])] * len(BOUNDS)) for r in part["results"] if "bound_exp" not in r
    ]
    return table(
        ("bound", *(f"2^-{k}" for k in BOUNDS)),
        rows,
        results["ratio"],
        f"Ratios over all {part['files']} dumps in `tests/data/gradients`.",
    )


def ratio_errors(results):
    def cell(x):
        return f"{x:.2g}"

    rows = []
    for c in ("dense", "paper", "zfp"):
        rows.append(
            (
                f"{name_of(c)}, largest" + (" (as `lattice`)" if c == "dense" else ""),
                *(cell(x) for x in by_bound(results, "all", c, "max_error")),
            )
        )
        rows.append((f"{name_of(c)}, rms", *(cell(x) for x in by_bound(results, "all", c, "rms_error"))))
        rows.append(
            (
                f"{name_of(c)}, values above the bound",
                *(percent(x, 0 if c != "zfp" else 5) for x in by_bound(results, "all", c, "above_bound_share")),
            )
        )
    return table(("error", *(f"2^-{k} = {2.0 ** -k:.2g}" for k in BOUNDS)), rows, results["ratio"], "Over all dumps.")


def entropy(results):
    rows = []
    for part, words in (("cnn", "CNN"), ("mlp", "MLP")):
        for c in ("lattice", "dense"):
            rows.append((f"{words}: `{c}`", *(digits(32 / x, 3) for x in by_bound(results, part, c, "ratio"))))
        found = {e["bound_exp"]: e["bits_per_value"] for e in results["ratio"]["results"][part]["entropy"]}
        rows.append((f"{words}: entropy", *(digits(found[k], 3) for k in BOUNDS)))
    return table(
        ("bits a value", *(f"2^-{k}" for k in BOUNDS)),
        rows,
        results["ratio"],
        "The entropy's histogram is of all dumps of a network together.",
    )


def classes(results):
    groups = (
        ("zero", ("0",)),
        ("1 to 3 bits, unsigned", ("u1", "u2", "u3")),
        ("1 to 3 bits, signed", ("1", "2", "3")),
        ("4 to 8 bits", ("4", "5", "6", "7", "8")),
        ("10, 12, 16", ("10", "12", "16")),
        ("words", ("words",)),
    )
    rows = []
    for part, words in (("cnn", "CNN"), ("mlp", "MLP")):
        for k in (6, 10, 15):
            shares = next(
                r["classes"]
                for r in results["ratio"]["results"][part]["results"]
                if r["codec"] == "dense" and r["bound_exp"] == k
            )
            rows.append((f"{words}, 2^-{k}", *(percent(sum(shares[x] for x in keys), 2) for _, keys in groups)))
    return table(("groups of 8 by class", *(words for words, _ in groups)), rows, results["ratio"])


def choices(results):
    found = results["choices"]["results"]
    rows = [
        (
            (
                bold(f"`{r['name']}`")
                if r["name"] == "dense"
                else f"`{r['name']}`" if r["name"] == "lattice" else r["name"]
            ),
            *(digits(x) for x in r["ratios"]),
        )
        for r in found["rows"]
    ]
    return table(
        ("", *found["columns"]), rows, results["choices"], "Ratios of the same integers with one thing changed."
    )


TABLES = {
    "codec": codec,
    "codec-packets": codec_packets,
    "codec-kernels": codec_kernels,
    "codec-dense": codec_dense,
    "codec-claims": codec_claims,
    "ratio": ratio,
    "ratio-errors": ratio_errors,
    "entropy": entropy,
    "classes": classes,
    "choices": choices,
}
