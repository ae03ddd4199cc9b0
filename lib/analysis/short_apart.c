/* short_apart.c - see short_apart.h: short names that stay distinguishable within a table.
 *
 * Names that would have the same short name get a suffix in brackets: the part between their common beginning and their common end, as
 * in "elementwise<CUDAFunctor_add<float>> [4]". If the names also differ without their parameters, the parameters are ignored, because
 * they repeat the template arguments. If the suffix would be too long, the name keeps its full text or, if that is also too long, gets
 * a number. */
#include "short_apart.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "short_names.h"

enum { MOST_APART = 40, MOST_FULL = 60 };

struct row {
  uint32_t id, number; /* id: string id of the short name; number: index of the full name */
};

static int by_id(const void *p, const void *q) {
  const struct row *a = p, *b = q;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* Returns the length of the name without its parameters. */
static size_t length_without_parameters(const struct short_name *v) {
  size_t depth = 0;
  if (!v->name_len || v->name[v->name_len - 1] != ')') return v->name_len;
  for (size_t i = v->name_len; i--;) {
    depth += v->name[i] == ')';
    if (v->name[i] == '(' && --depth == 0) return i ? i : v->name_len;
  }
  return v->name_len;
}

static bool is_word_char(char c) { return ascii_letter(c) || ascii_digit(c) || (c & 0x80); }

/* Lengths of the common beginning and the common end of all names with the same short name, in bytes. */
struct common {
  size_t front, back;
};

static void meet(struct common *c, const struct short_name *a, size_t n_a, const struct short_name *b, size_t n_b) {
  const size_t n = n_a < n_b ? n_a : n_b;
  size_t i = 0;
  while (i < n && i < c->front && a->name[i] == b->name[i]) i++;
  c->front = i;
  for (i = 0; i < n && i < c->back && a->name[n_a - 1 - i] == b->name[n_b - 1 - i];) i++;
  c->back = i;
}

/* Shortens both common parts to word boundaries. Then shortens the common end, so that it does not overlap the common beginning in any
 * name. */
static void to_words(struct common *c, const struct short_name *v, size_t n, size_t least) {
  while (c->front && is_word_char(v->name[c->front - 1])) c->front--;
  while (c->back && is_word_char(v->name[n - c->back])) c->back--;
  if (c->front + c->back > least) c->back = least - c->front;
}

static bool is_edge(char c) { return c == ' ' || c == ',' || c == '_'; }

/* Appends a suffix that distinguishes the name from others of its group. `number`: position of the name in the group. */
static bool set_apart(struct short_name *v, struct common c, size_t n, size_t number, struct intern *texts) {
  struct short_text to = {.n = 0};
  const char *p = v->name + c.front;
  size_t len = n - c.front - c.back;
  char digits[24] = " #";
  while (len && is_edge(*p)) p++, len--;
  while (len && is_edge(p[len - 1])) len--;
  short_put(&to, v->text, v->text_len);
  if (len && len < MOST_APART) {
    short_put_text(&to, " [");
    short_put(&to, p, len);
    short_put_text(&to, "]");
  } else if (len) {
    short_put(&to, digits, 2 + num_put_u64(digits + 2, number));
  }
  v->text = v->name;
  v->text_len = v->name_len;
  if ((len >= MOST_APART && v->name_len < MOST_FULL) || to.cut || to.n >= v->name_len) return true;
  const uint32_t id = intern(texts, to.text, to.n);
  if (!id) return false;
  v->text = (const char *)texts->strs[id].bytes;
  v->text_len = to.n;
  return true;
}

static bool part(struct short_name *v, const struct row *rows, size_t n, struct intern *texts, bool parameters) {
  const struct short_name *first = &v[rows[0].number];
  const size_t whole = parameters ? first->name_len : length_without_parameters(first);
  struct common c = {whole, whole};
  size_t least = whole;
  bool same = false;
  for (size_t i = 1; i < n; i++) {
    const struct short_name *other = &v[rows[i].number];
    const size_t len = parameters ? other->name_len : length_without_parameters(other);
    meet(&c, first, whole, other, len);
    if (len < least) least = len;
    same = same || (len == whole && memcmp(first->name, other->name, len) == 0);
  }
  if (same && !parameters) return part(v, rows, n, texts, true);
  to_words(&c, first, whole, least);
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    struct short_name *one = &v[rows[i].number];
    ok = set_apart(one, c, parameters ? one->name_len : length_without_parameters(one), i + 1, texts);
  }
  return ok;
}

static bool number_texts(const struct short_name *v, size_t n, struct row *rows, struct intern *texts) {
  for (size_t i = 0; i < n; i++) {
    rows[i] = (struct row){intern(texts, v[i].text, v[i].text_len), (uint32_t)i};
    if (!rows[i].id) return false;
  }
  qsort(rows, n, sizeof *rows, by_id);
  return true;
}

/* Restores the full names if several names still have the same short name. */
static void keep_full(struct short_name *v, const struct row *rows, size_t n) {
  for (size_t i = 0; n > 1 && i < n; i++) {
    struct short_name *one = &v[rows[i].number];
    one->text = one->name;
    one->text_len = one->name_len;
  }
}

static size_t end_of_run(const struct row *rows, size_t i, size_t n) {
  size_t k = i + 1;
  while (k < n && rows[k].id == rows[i].id) k++;
  return k;
}

bool short_apart_names(struct short_name *v, size_t n, struct intern *texts, struct mem *mem) {
  struct row *rows = mem_array(mem, (uint64_t)n + 1, sizeof *rows);
  bool ok = rows != NULL;
  for (size_t i = 0; ok && i < n; i++) {
    struct short_text to;
    v[i].text = v[i].name;
    v[i].text_len = v[i].name_len;
    if (!short_names_of(v[i].name, v[i].name_len, &to)) continue;
    const uint32_t id = intern(texts, to.text, to.n);
    ok = id != 0;
    v[i].text = ok ? (const char *)texts->strs[id].bytes : v[i].name;
    v[i].text_len = ok ? to.n : v[i].name_len;
  }
  ok = ok && number_texts(v, n, rows, texts);
  for (size_t i = 0, k; ok && i < n; i = k) {
    k = end_of_run(rows, i, n);
    if (k > i + 1) ok = part(v, rows + i, k - i, texts, false);
  }
  ok = ok && number_texts(v, n, rows, texts);
  for (size_t i = 0, k; ok && i < n; i = k) keep_full(v, rows + i, (k = end_of_run(rows, i, n)) - i);
  mem_free(mem, rows);
  return ok;
}
