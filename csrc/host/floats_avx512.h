/* floats_avx512.h: exp and tanh of 16 floats; SLEEF's tanh takes four times as long.
 *
 * Invariant: the error of tanh is below 1.5 units in the last place for every float (rows_spec
 * tests all of them); NaN stays NaN, and tanh keeps the sign of 0.
 */
#ifndef DPT_HOST_FLOATS_AVX512_H
#define DPT_HOST_FLOATS_AVX512_H
#define FLOATS __m512
#define MM(op) _mm512_##op
#define EXP_SCALE(v, n) _mm512_scalef_ps(v, n)
#define EXP_NAME dpt__exp16
#include "host/float_exp.inc.h"

/* Intervals: [0, 1/8), then four for each power of two up to 10, selected by the exponent's last
 * bits and the two bits after it. Each has its midpoint (the first its lower end) and the
 * coefficients of a polynomial in the distance from there, the constant one first (interpolated at
 * Chebyshev's points). */
/* clang-format off */
static const float dpt__tanh_parts[7][32] __attribute__((aligned(64))) = {
    {2.25f, 2.75f, 3.25f, 3.75f, 4.5f, 5.5f, 6.5f, 7.5f, 8.60000038f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f,
     0.f, 0.140625f, 0.171875f, 0.203125f, 0.234375f, 0.28125f, 0.34375f, 0.40625f, 0.46875f,
     0.5625f, 0.6875f, 0.8125f, 0.9375f, 1.125f, 1.375f, 1.625f, 1.875f},
    {0.978026092f, 0.991859734f, 0.996997654f, 0.998894453f, 0.999753177f, 0.999966621f,
     0.99999547f, 0.999999404f, 0.99999994f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.1397053f,
     0.170202315f, 0.200376719f, 0.230175704f, 0.27406159f, 0.330821127f, 0.385283977f,
     0.437188774f, 0.509829998f, 0.596373558f, 0.670967102f, 0.734071493f, 0.809301078f,
     0.879826725f, 0.925346255f, 0.954045236f},
    {0.0434649177f, 0.0162142888f, 0.00599571643f, 0.00220989296f, 0.000493528205f, 6.68060602e-05f,
     9.04147782e-06f, 1.22363576e-06f, 1.35588792e-07f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, 1.f,
     0.980482399f, 0.971031189f, 0.959849179f, 0.94701916f, 0.92489022f, 0.890557408f, 0.851556242f,
     0.808865964f, 0.740073383f, 0.644338608f, 0.549803197f, 0.461138994f, 0.345031768f,
     0.225904971f, 0.143734366f, 0.0897976384f},
    {-0.0425082371f, -0.0160811003f, -0.00597717939f, -0.00220723939f, -0.000492609397f,
     -6.66951382e-05f, -9.02671309e-06f, -1.22164215e-06f, -1.35122463e-07f, 0.f, 0.f, 0.f, 0.f,
     0.f, 0.f, 0.f, -0.136978596f, -0.165271744f, -0.192331418f, -0.217980802f, -0.253476858f,
     -0.294615149f, -0.328090936f, -0.353627086f, -0.377311289f, -0.384266406f, -0.368899912f,
     -0.338509142f, -0.279237121f, -0.198758736f, -0.133004621f, -0.0856711045f},
    {0.0270877779f, 0.0105462614f, 0.00396098197f, 0.00146828825f, 0.000328422931f, 4.44845173e-05f,
     6.02100818e-06f, 8.14867349e-07f, 9.01843791e-08f, 0.f, 0.f, 0.f, 0.f, 0.f, 0.f, -0.33332783f,
     -0.307690829f, -0.295547426f, -0.281410992f, -0.265499175f, -0.238828465f, -0.199387535f,
     -0.157443911f, -0.115020193f, -0.0543267801f, 0.0143864937f, 0.0642516986f, 0.0947767347f,
     0.110974804f, 0.0995712727f, 0.0751639605f, 0.0518017337f},
    {-0.0123903379f, -0.00515112979f, -0.00197949982f, -0.000739873329f, -0.000172551925f,
     -2.3398612e-05f, -3.16750538e-06f, -4.28690782e-07f, -4.85464149e-08f, 0.f, 0.f, 0.f, 0.f, 0.f,
     0.f, 0.f, 0.0886279121f, 0.105372861f, 0.120475739f, 0.133746997f, 0.149840876f, 0.164061487f,
     0.169927269f, 0.168078661f, 0.153249413f, 0.119440995f, 0.0798982158f, 0.0433629714f,
     0.00370056508f, -0.0210951585f, -0.025121225f, -0.0208489057f},
    {0.00397682004f, 0.00191481609f, 0.000770491548f, 0.000292646582f, 6.83043691e-05f,
     9.27980727e-06f, 1.25654219e-06f, 1.70066556e-07f, 1.91902263e-08f, 0.f, 0.f, 0.f, 0.f, 0.f,
     0.f, 0.132177204f, 0.111951135f, 0.102142155f, 0.0909775272f, 0.0787459388f, 0.0590557307f,
     0.0319544822f, 0.00592832128f, -0.0171587281f, -0.0434775129f, -0.0615684427f, -0.0626686364f,
     -0.0530598164f, -0.0320384763f, -0.00951397512f, 0.00139498757f, 0.00460099103f}};

/* clang-format on */
static inline __attribute__((always_inline)) __m512 dpt__tanh16(__m512 x) {
  const __m512 end = _mm512_set1_ps(9.1f); /* tanh is 1 from there on */
  __m512 a = _mm512_min_ps(end, _mm512_abs_ps(x));
  __m512i first = _mm512_set1_epi32(495); /* the bits of the last float below 1/8 */
  __m512i part = _mm512_max_epi32(_mm512_srli_epi32(_mm512_castps_si512(a), 21), first);
#define PART(k)                                                                                    \
  _mm512_permutex2var_ps(_mm512_load_ps(dpt__tanh_parts[k]), part,                                 \
                         _mm512_load_ps(dpt__tanh_parts[k] + 16))
  __m512 t = _mm512_sub_ps(a, PART(0)), p = PART(6);
  p = _mm512_fmadd_ps(p, t, PART(5));
  p = _mm512_fmadd_ps(p, t, PART(4));
  p = _mm512_fmadd_ps(p, t, PART(3));
  p = _mm512_fmadd_ps(p, t, PART(2));
  p = _mm512_fmadd_ps(p, t, PART(1));
#undef PART
  return _mm512_or_ps(p, _mm512_and_ps(x, _mm512_set1_ps(-0.f)));
}

#endif
