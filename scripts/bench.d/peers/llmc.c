/* llmc.c: the side of llm.c in `scripts/bench peers`: for each line `NAME THREADS N`, takes N
 * training steps of a GPT-2 with 124 M parameters on a text of 256 tokens, and answers their
 * seconds; `-` in place of N does nothing. It is compiled with llm.c's folder as include path.
 */
#define TESTING
#include "train_gpt2.c"

#include <omp.h>
#include <unistd.h>

enum { BATCH = 1, LENGTH = 256 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void random_model(GPT2 *model) {
  model->config = (GPT2Config){.max_seq_len = 1024,
                               .vocab_size = 50257,
                               .padded_vocab_size = 50304,
                               .num_layers = 12,
                               .num_heads = 12,
                               .channels = 768};
  fill_in_parameter_sizes(model->param_sizes, model->config);
  for (int i = 0; i < NUM_PARAMETER_TENSORS; i++) model->num_parameters += model->param_sizes[i];
  model->params_memory = malloc_and_point_parameters(&model->params, model->param_sizes);
  for (size_t i = 0; i < model->num_parameters; i++)
    model->params_memory[i] = ((float)rand() / (float)RAND_MAX - 0.5f) * 0.04f;
}

int main(void) {
  static GPT2 model;
  int inputs[BATCH * LENGTH], targets[BATCH * LENGTH], steps = 0;
  char name[32], count[32];
  int threads;
  FILE *answers = fdopen(dup(1), "w");
  dup2(2, 1); /* llm.c's own messages */
  for (int i = 0; i < BATCH * LENGTH; i++) inputs[i] = rand() % 50257, targets[i] = rand() % 50257;
  random_model(&model);
  fprintf(answers, "llm.c\n");
  fflush(answers);
  while (scanf("%31s %d %31s", name, &threads, count) == 3) {
    double begin = now();
    omp_set_num_threads(threads);
    for (int n = atoi(count); n > 0; n--) {
      gpt2_forward(&model, inputs, targets, BATCH, LENGTH);
      gpt2_zero_grad(&model);
      gpt2_backward(&model);
      gpt2_update(&model, 1e-4f, 0.9f, 0.999f, 1e-8f, 0.01f, ++steps);
    }
    fprintf(answers, "%f\n", now() - begin);
    fflush(answers);
  }
  return 0;
}
