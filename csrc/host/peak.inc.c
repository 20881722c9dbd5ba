/* peak.inc.c: fused multiply-adds in registers alone, for one instruction set.
 *
 * Invariant: included with BYTES (of a register), NAME and TARGET (the attribute). The twelve sums
 * are independent, which hides the latency of two ports.
 */
#define LANES (BYTES / (int)sizeof(float))
typedef float PASTE(NAME, _vector) __attribute__((vector_size(BYTES)));

/* Runs `steps` steps; returns the number of operations. */
static TARGET __attribute__((noinline)) double NAME(int64_t steps, float *sink) {
  PASTE(NAME, _vector) sum[SUMS], factor, term;
  for (int j = 0; j < LANES; j++) factor[j] = *sink, term[j] = *sink;
  for (int i = 0; i < SUMS; i++) sum[i] = factor;
  for (int64_t step = 0; step < steps; step++)
    for (int i = 0; i < SUMS; i++) sum[i] = sum[i] * factor + term;
  for (int i = 1; i < SUMS; i++) sum[0] += sum[i];
  *sink = sum[0][0];
  return 2.0 * LANES * SUMS * (double)steps;
}
#undef LANES
