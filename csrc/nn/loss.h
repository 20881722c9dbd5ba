/* loss.h: the numbers of the pointwise losses, from the one list. */
#ifndef DPT_NN_LOSS_H
#define DPT_NN_LOSS_H

enum dpt__loss {
#define DPT_LOSS(name, target, value, gradient) DPT__LOSS_##name,
#include "nn/loss.def"
#undef DPT_LOSS
  DPT__NLOSS
};

#endif
