/* main.c - gen kineto|xplane|perfetto|gecko [options] > file */
#include <stdlib.h>
#include <string.h>

#include "gen.h"

static const char usage[] =
  "usage: gen kineto|xplane|perfetto|gecko [options] > file\n"
  "  --spans N        about this many spans (default 10000); --steps N says how many steps instead\n"
  "  --seed N         another job\n"
  "  --ranks N        ranks of the job (default 1); --rank K: the one to write (default 0)\n"
  "  --hosts N        hosts of the job (default 1); xplane writes all ranks of the host of --rank\n"
  "  --layers N       layers of the model (default 12)\n"
  "  --offset-us A,B  what each host's clock is ahead;  --drift-ppm A,B  and how much faster it runs\n"
  "  --slew-ppm X --slew-at S   from second S on all clocks but host 0's run X ppm faster\n"
  "  --straggler K    rank K is slow\n"
  "  --truth FILE     writes the true clocks as JSON ('-' = stderr)\n"
  "  kineto only: --no-base (epoch microseconds), --lines (one key per line, torch 2.15), --compact (one event per line),\n"
  "  --no-stack (no Python frames), --memory (allocator instants)\n"
  "  gecko writes --spans stack samples of a profiler instead of a job, on 4 threads\n"
  "  xplane only: --tpu (TPU planes instead of GPU planes), --late-ms A,B (when each host's profile begins),\n"
  "  --no-run-id (executions of programs are not numbered), --no-hlo (GPU planes only: without the program)\n";

static bool list(const char *text, double *values) {
  char *end;
  for (int i = 0; i < MAX_HOSTS; i++) {
    values[i] = strtod(text, &end);
    if (end == text) return false;
    if (*end == 0) return true;
    if (*end != ',') return false;
    text = end + 1;
  }
  return false;
}

static bool flag(struct options *o, const char *name) {
  if (strcmp(name, "--no-base") == 0) return o->no_base = true;
  if (strcmp(name, "--compact") == 0) return o->compact = true;
  if (strcmp(name, "--lines") == 0) return o->lines = true;
  if (strcmp(name, "--memory") == 0) return o->memory = true;
  if (strcmp(name, "--tpu") == 0) return o->tpu = true;
  if (strcmp(name, "--no-run-id") == 0) return o->no_run_id = true;
  if (strcmp(name, "--no-hlo") == 0) return o->no_hlo = true;
  if (strcmp(name, "--no-stack") == 0) return !(o->stack = false);
  return false;
}

static bool option(struct options *o, const char *name, const char *value) {
  struct {
    const char *name;
    int *value;
  } ints[] = {{"--ranks", &o->ranks}, {"--rank", &o->rank}, {"--hosts", &o->hosts}, {"--steps", &o->steps},
              {"--layers", &o->layers}, {"--straggler", &o->straggler}};
  for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
    if (strcmp(name, ints[i].name) != 0) continue;
    *ints[i].value = atoi(value);
    return true;
  }
  if (strcmp(name, "--spans") == 0) return (o->spans = strtoull(value, NULL, 10)) > 0;
  if (strcmp(name, "--seed") == 0) return o->seed = strtoull(value, NULL, 10), true;
  if (strcmp(name, "--offset-us") == 0) return list(value, o->offset_us);
  if (strcmp(name, "--drift-ppm") == 0) return list(value, o->drift_ppm);
  if (strcmp(name, "--late-ms") == 0) return list(value, o->late_ms);
  if (strcmp(name, "--slew-ppm") == 0) return o->slew_ppm = atof(value), true;
  if (strcmp(name, "--slew-at") == 0) return o->slew_at = atof(value), true;
  if (strcmp(name, "--truth") == 0) return o->truth = value, true;
  return false;
}

static bool sane(const struct options *o) {
  return o->ranks >= 1 && o->ranks <= MAX_RANKS && o->rank >= 0 && o->rank < o->ranks && o->hosts >= 1 &&
         o->hosts <= MAX_HOSTS && o->hosts <= o->ranks && o->layers >= 1 && o->layers <= MAX_LAYERS && o->steps >= 0 &&
         o->straggler < o->ranks;
}

static void count(void *self, const struct piece *p) {
  uint64_t *n = self;
  *n += p->phase == COMMUNICATION ? 4 : p->phase == FORWARD ? 1 : 0;
  for (unsigned i = 0; i < p->n; i++) *n += 1 + p->slots[i].row->calls + 2 * (p->slots[i].row->kernel != 0);
}

/* Chooses the number of steps that gives about the requested number of spans; reduces the layers if one step would be too
 * many. */
static bool choose_steps(struct options *o) {
  if (o->steps > 0) return true;
  for (;; o->layers = (o->layers + 1) / 2) {
    struct job j;
    struct plan p;
    uint64_t n = 5;
    if (!job_start(&j, o)) return false;
    job_step(&j, &p);
    walk(o, &p, count, &n);
    job_end(&j);
    o->steps = (int)((o->spans + n / 2) / n);
    if (o->steps > 0) return true;
    o->steps = 1;
    if (o->layers == 1) return true;
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    bool (*write)(const struct options *o);
  } dialects[] = {{"kineto", kineto}, {"xplane", xplane}, {"perfetto", perfetto}, {"gecko", gecko}};
  static struct options o = {.spans = 10000, .seed = 1, .ranks = 1, .hosts = 1, .layers = 12, .straggler = -1, .stack = true};
  bool ok = argc > 1;
  for (int i = 2; ok && i < argc; i++)
    if (!flag(&o, argv[i])) ok = i + 1 < argc && option(&o, argv[i], argv[i + 1]), i++;
  for (size_t i = 0; ok && i < sizeof dialects / sizeof *dialects; i++) {
    if (strcmp(argv[1], dialects[i].name) != 0) continue;
    if (!sane(&o) || !choose_steps(&o)) break;
    if ((!o.truth || write_truth(&o)) && dialects[i].write(&o) && put_finish()) return 0;
    perror("gen");
    return 1;
  }
  fputs(usage, stderr);
  return 2;
}
