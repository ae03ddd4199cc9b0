/* numbers.c - compares the pairing according to end times with the pairing by sequence number (numbers.h). */
#include "numbers.h"

#include <math.h>
#include <string.h>

#include "doubt.h"

/* Returns the hypothesis that pairs equal sequence numbers; NULL if too few numbers agree. */
static struct hypothesis *by_numbers(struct hypotheses *h) {
  uint32_t numbered = 0;
  for (uint32_t i = 0; i < h->q->view->n_b; i++) numbered += h->numbered[i] != ALIGN_NONE;
  if (numbered < ALIGN_FEWEST) return NULL;
  for (uint32_t k = 0; k < h->n; k++)
    if (h->v[k].n == numbered && memcmp(h->v[k].partner, h->numbered, h->q->view->n_b * sizeof *h->numbered) == 0) return &h->v[k];
  return NULL;
}

/* Counts the pairs of `y` that differ from the pairing by sequence number: their partner by number is another sight or is
 * missing. */
static uint32_t unlike_numbers(const struct hypotheses *h, const struct hypothesis *y) {
  uint32_t unlike = 0;
  for (uint32_t i = 0; i < h->q->view->n_b; i++) unlike += y->partner[i] != ALIGN_NONE && y->partner[i] != h->numbered[i];
  return unlike;
}

double numbers_torn(const struct hypotheses *h, const struct hypothesis *y) {
  uint32_t torn = 0;
  for (uint32_t i = 0; i < h->q->view->n_b; i++) torn += h->numbered[i] != ALIGN_NONE && y->partner[i] != h->numbered[i];
  return fmin(torn, 3) * log(1e-4);
}

struct hypothesis *numbers_prefer(struct hypotheses *h, struct hypothesis *best) {
  struct hypothesis *keyed = by_numbers(h);
  if (!keyed || keyed == best) return best;
  if (20 * unlike_numbers(h, best) <= best->n) return keyed;
  if (best->causality >= 0 || keyed->causality < 0) return best;
  keyed->log_weight = fmax(keyed->log_weight, best->log_weight - log(1e-4));
  return keyed;
}

void numbers_compare(struct hypotheses *h, const struct hypothesis *best, struct posterior *out) {
  const struct hypothesis *keyed = by_numbers(h);
  for (uint32_t i = 0; i < h->q->view->n_b; i++) {
    out->numbered += h->numbered[i] != ALIGN_NONE;
    out->kept += h->numbered[i] != ALIGN_NONE && best->partner[i] == h->numbered[i];
  }
  if (!keyed) out->numbered = out->kept = 0;
  if (keyed) out->by_number = keyed->offset;
}

bool numbers_agree(const struct hypotheses *h, const struct hypothesis *y) {
  uint32_t equal = 0, torn = 0;
  for (uint32_t i = 0; i < h->q->view->n_b; i++) {
    equal += h->numbered[i] != ALIGN_NONE && y->partner[i] == h->numbered[i];
    torn += y->partner[i] != h->numbered[i];
  }
  return equal >= ALIGN_FEWEST && torn == 0;
}

bool numbers_shared(const struct view *v, bool *steps) {
  bool numbers = false;
  struct map seen;
  map_init(&seen, v->arena->mem);
  *steps = false;
  for (uint32_t i = 0; i < v->n_a; i++) {
    if (v->a[i]->exact) map_put(&seen, hash_mix(v->a[i]->exact, 1), 0);
    if (v->a[i]->stepped && !v->a[i]->program) map_put(&seen, hash_mix((uint64_t)v->a[i]->step, 2), 0);
  }
  for (uint32_t i = 0; i < v->n_b; i++) {
    numbers = numbers || (v->b[i]->exact && map_get(&seen, hash_mix(v->b[i]->exact, 1)));
    *steps = *steps || (v->b[i]->stepped && map_get(&seen, hash_mix((uint64_t)v->b[i]->step, 2)));
  }
  map_free(&seen);
  return numbers;
}

/* True if another hypothesis has at least half as many pairs as `y`, and the ends of its pairs agree better. */
static bool has_rival(const struct hypotheses *h, const struct hypothesis *y) {
  for (uint32_t i = 0; i < h->n; i++) {
    const struct hypothesis *other = &h->v[i];
    if (other->hash != y->hash && 2 * other->n >= y->n && other->ends / other->n > y->ends / y->n) return true;
  }
  return false;
}

bool numbers_allow(const struct hypotheses *h, const struct posterior *p) {
  return doubt_is_lateness(p->doubt) && p->numbered >= ALIGN_FEWEST && numbers_agree(h, &p->best) && !has_rival(h, &p->best);
}

double numbers_excuse(const struct hypothesis *y) {
  const double most_missing = -3.4, most_sigma = 30 * US;
  return fmin(0, y->missing - most_missing) + (y->fit.sigma <= most_sigma ? fmin(0, y->ends) : 0);
}
