/* product_table.inc.c: the table of one instruction set: TABLE, BYTES of a vector, ROWS of a tile.
 */
#include "host/rnn/product.h"
#include <string.h>

#include "host/each_real.h"

const dpt__rnn_product TABLE[2] = {{COLS_f32, pack_f32, run_f32}, {COLS_f64, pack_f64, run_f64}};
