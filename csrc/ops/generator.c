/* generator.c: MT19937 (Matsumoto and Nishimura, 1998) and its state (generator.h). */
#include "ops/generator.h"
#include "base/isa.h"
#include "device/draws.h"
#include "tensor/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = DPT__MT_WORDS, SHIFT = 397 };

void dpt_generator_manual_seed(dpt_generator *g, uint64_t seed) {
  memset(g, 0, sizeof *g);
  g->seed = seed;
  g->words[0] = (uint32_t)seed;
  for (uint32_t i = 1; i < WORDS; i++)
    g->words[i] = 1812433253u * (g->words[i - 1] ^ g->words[i - 1] >> 30) + i;
  g->used = WORDS;
}

uint64_t dpt_generator_seed(dpt_generator *g) {
  uint64_t seed = dpt__random_seed();
  dpt_generator_manual_seed(g, seed);
  return seed;
}

uint64_t dpt_generator_initial_seed(const dpt_generator *g) { return g->seed; }

int dpt_generator_new(dpt_generator **g) {
  *g = malloc(sizeof **g);
  if (!*g) return dpt__no_memory("Generator: no host memory");
  dpt_generator_seed(*g);
  return 0;
}

void dpt_generator_free(dpt_generator *g) { free(g); }

void dpt_generator_copy(dpt_generator *g, const dpt_generator *from) { *g = *from; }

static uint32_t mt_mix(uint32_t high, uint32_t low) {
  return ((high & 0x80000000u) | (low & 0x7fffffffu)) >> 1 ^ (low & 1 ? 0x9908b0dfu : 0);
}

/* Works in two parts, neither of which reads a word that it wrote less than 227 steps before. */
static void mt_refill(dpt_generator *g) {
  uint32_t *w = g->words;
  for (int i = 0; i < WORDS - SHIFT; i++) w[i] = w[i + SHIFT] ^ mt_mix(w[i], w[i + 1]);
  for (int i = WORDS - SHIFT; i < WORDS - 1; i++)
    w[i] = w[i + SHIFT - WORDS] ^ mt_mix(w[i], w[i + 1]);
  w[WORDS - 1] = w[SHIFT - 1] ^ mt_mix(w[WORDS - 1], w[0]);
  g->used = 0;
}

static uint32_t mt_temper(uint32_t y) {
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

dpt__drawer dpt__draw_from(dpt_generator *g) {
  dpt__effect();
  return (dpt__drawer){g};
}

uint32_t dpt__draw(dpt__drawer from) {
  dpt_generator *g = from.g;
  if (g->used >= WORDS) mt_refill(g);
  return mt_temper(g->words[g->used++]);
}

void dpt__draw_words(dpt__drawer from, uint32_t *words, int64_t n) {
  dpt_generator *g = from.g;
  while (n > 0) {
    if (g->used >= WORDS) mt_refill(g);
    int m = n < WORDS - g->used ? (int)n : WORDS - g->used;
    for (int i = 0; i < m; i++) words[i] = mt_temper(g->words[g->used + i]);
    g->used += m;
    words += m;
    n -= m;
  }
}

double dpt__draw_uniform(dpt__drawer from) { return dpt__draw(from) * (1.0 / 4294967296.0); }

double dpt__draw_normal(dpt__drawer from) {
  dpt_generator *g = from.g;
  g->kept = !g->kept;
  if (!g->kept) return g->radius * sin(2 * M_PI * g->angle);
  g->angle = dpt__draw_uniform(from);
  g->radius = sqrt(-2 * log(1 - dpt__draw_uniform(from)));
  return g->radius * cos(2 * M_PI * g->angle);
}

/* Returns log(x) for 2^-32 <= x <= 1. x = m 2^e with m near 1; log m = 2 atanh s with s = (m -
 * 1)/(m + 1). */
static inline double normal_log(double x) {
  const uint64_t root = 0x3fe6a09e667f3bcd, bias = 64; /* root of 1/2; keeps exponents positive */
  uint64_t bits, high, whole;
  memcpy(&bits, &x, 8);
  high = (bits - root + (bias << 52)) >> 52;
  bits -= (high - bias) << 52;
  whole = high | 0x4330000000000000; /* 2^52 + high as a double */
  double m, e;
  memcpy(&m, &bits, 8);
  memcpy(&e, &whole, 8);
  double s = (m - 1) / (m + 1), z = s * s, p = 1.0 / 21;
  p = p * z + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return (e - (0x1p52 + (double)bias)) * M_LN2 + 2 * (s + s * (z * p));
}

/* Writes radius times the cosine and the sine of `turn` turns, by Taylor's series on an eighth of
 * one. */
static inline void normal_turn(double radius, double turn, double *to) {
  double quarter = turn * 4 + 0.5 + 0x1p52 - 0x1p52; /* 4 turn + 1/2, rounded up or down */
  quarter -= quarter > turn * 4 + 0.5;               /* floor(4 turn + 1/2) */
  double x = (turn - quarter * 0.25) * (2 * M_PI), z = x * x;
  double s = 1.0 / 355687428096000, c = 1.0 / 20922789888000;
  s = s * z - 1.0 / 1307674368000;
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = x + x * (z * s);
  c = c * z - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 1.0 / 2;
  c = 1 + z * c;
  quarter = quarter < 4 ? quarter : 0;
  double odd = quarter < 2 ? quarter : quarter - 2, sign = quarter < 2 ? radius : -radius;
  to[0] = sign * (odd > 0 ? -s : c);
  to[1] = sign * (odd > 0 ? c : s);
}

/* Returns word / 2^32. */
static inline double normal_uniform(uint32_t word) {
  uint64_t bits = word | 0x4330000000000000; /* 2^52 + word as a double */
  double x;
  memcpy(&x, &bits, 8);
  return (x - 0x1p52) * (1.0 / 4294967296.0);
}

/* Converts n pairs of words to 2n normal numbers. */
DPT__CLONES
static void normal_pairs(const uint32_t *words, double *numbers, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double turn = normal_uniform(words[2 * i]), u = normal_uniform(words[2 * i + 1]);
    normal_turn(sqrt(-2 * normal_log(1 - u)), turn, numbers + 2 * i);
  }
}

void dpt__draw_normals(dpt__drawer from, double *numbers, int64_t n) {
  uint32_t words[DPT__MT_NORMALS];
  if (n > 0 && from.g->kept) *numbers++ = dpt__draw_normal(from), n--;
  int64_t pairs = n > 2 ? (n - 1) / 2 : 0; /* the last numbers leave their state in g */
  dpt__draw_words(from, words, 2 * pairs);
  normal_pairs(words, numbers, pairs);
  for (int64_t i = 2 * pairs; i < n; i++) numbers[i] = dpt__draw_normal(from);
}

/* The state in Torch7's layout, in memory and in files on 64-bit machines. */
struct state {
  uint64_t seed;
  int32_t left, seeded; /* left: words until the next refill, plus 1 */
  uint64_t next, words[WORDS];
  double angle, unused, radius;
  int32_t kept;
};
_Static_assert(sizeof(struct state) == 5048, "Torch7's size");

int dpt__state_put(dpt_tensor *r, const void *state, size_t size) {
  const int64_t count = (int64_t)size;
  if (r->kind_ != DPT_U8)
    return dpt__fail("getRNGState: got a %s, wanted a torch.ByteTensor for the state",
                     dpt__kind_name(r->kind_));
  dpt_tensor fresh;
  DPT__TRY(dpt_tensor_new(&fresh, DPT_U8, 1, &count));
  memcpy(dpt__at(&fresh), state, size);
  int failed = dpt_tensor_set(r, &fresh);
  dpt_tensor_free(&fresh);
  return failed;
}

int dpt__state_take(const dpt_tensor *from, void *state, size_t size) {
  if (from->kind_ != DPT_U8 || dpt__count(from) != (int64_t)size || !dpt__contiguous(from))
    return dpt__fail("setRNGState: got a %s, wanted a state from getRNGState", dpt__describe(from));
  memcpy(state, dpt__at(from), size);
  return 0;
}

int dpt_generator_get(const dpt_generator *g, dpt_tensor *r) {
  struct state out;
  memset(&out, 0, sizeof out);
  out.seed = g->seed;
  out.left = WORDS + 1 - g->used;
  out.seeded = 1;
  out.next = (uint64_t)g->used;
  for (int i = 0; i < WORDS; i++) out.words[i] = g->words[i];
  out.angle = g->angle;
  out.radius = g->radius;
  out.kept = g->kept;
  return dpt__state_put(r, &out, sizeof out);
}

int dpt_generator_set(dpt_generator *g, const dpt_tensor *state) {
  struct state in;
  DPT__TRY(dpt__state_take(state, &in, sizeof in));
  if (in.left < 1 || in.left > WORDS + 1 || (in.kept & ~1) || !isfinite(in.angle) ||
      !isfinite(in.radius))
    return dpt__fail("setRNGState: these bytes are no state of a generator");
  g->seed = in.seed;
  g->used = WORDS + 1 - in.left;
  g->kept = in.kept;
  g->angle = in.angle;
  g->radius = in.radius;
  for (int i = 0; i < WORDS; i++) g->words[i] = (uint32_t)in.words[i];
  return 0;
}

double dpt_generator_hash(const dpt_generator *g) {
  uint64_t hash = 0xcbf29ce484222325u ^ g->seed ^ (uint64_t)g->used << 32 ^ (uint64_t)g->kept;
  for (int i = 0; i < DPT__MT_WORDS; i++) hash = (hash ^ g->words[i]) * 0x100000001b3u;
  return (double)(hash >> 12);
}
