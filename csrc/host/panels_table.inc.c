/* panels_table.inc.c: the table of one instruction set: TABLE, BYTES of a vector, at most ROWS rows
 * of a tile (TILES: X of 1 up to ROWS), and AHEAD, the distance in vectors of a panel's prefetch
 * (0: the CPU does that better by itself); F16_LOAD(from) and BF16_LOAD(from):
 * a vector of floats from 16-bit elements. */
#include "base/reduced.h"
#include "host/panels.h"
#include <string.h>

/* Interleaves the lanes of a and b, from lane `at` on. */
#define MIX2(a, b, at) __builtin_shufflevector(a, b, at, at + 2)
#define MIX4(a, b, at) __builtin_shufflevector(a, b, at, at + 4, at + 1, at + 5)
#define MIX8(a, b, at)                                                                             \
  __builtin_shufflevector(a, b, at, at + 8, at + 1, at + 9, at + 2, at + 10, at + 3, at + 11)
#define MIX16(a, b, at)                                                                            \
  __builtin_shufflevector(a, b, at, at + 16, at + 1, at + 17, at + 2, at + 18, at + 3, at + 19,    \
                          at + 4, at + 20, at + 5, at + 21, at + 6, at + 22, at + 7, at + 23)
#include "host/each_real.h"

#define T float
#define FN(name) name##_f32
#define S dpt__half
#define TO(name) name##_f16
#define LOAD(from) ((V_f32)F16_LOAD(from))
#define WIDE(x) dpt__f16_to_float(x)
#include "host/panels_pack.inc.c"
#define S dpt__bfloat16
#define TO(name) name##_bf16
#define LOAD(from) ((V_f32)BF16_LOAD(from))
#define WIDE(x) dpt__bf16_to_float(x)
#include "host/panels_pack.inc.c"

const dpt__panels TABLE[DPT_NDTYPE] = {[DPT_F32] = {COLS_f32, turn_f32, pack_f32, run_f32},
                                       [DPT_F64] = {COLS_f64, turn_f64, pack_f64, run_f64},
                                       [DPT_F16] = {COLS_f32, turn_f16, pack_f16, run_f32},
                                       [DPT_BF16] = {COLS_f32, turn_bf16, pack_bf16, run_f32}};
