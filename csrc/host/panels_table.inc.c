/* panels_table.inc.c: the table of one instruction set: TABLE, BYTES of a vector, at most ROWS rows
 * of a tile (TILES: X of 1 up to ROWS), and AHEAD, the distance in vectors of a panel's prefetch
 * (0: the CPU does that better by itself). */
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

const dpt__panels TABLE[2] = {{COLS_f32, turn_f32, pack_f32, run_f32},
                              {COLS_f64, turn_f64, pack_f64, run_f64}};
