/* fold.c - see fold.h.
 *
 * fold_name replaces these parts of a name by *: balanced <...> after a word; numbers that follow one of the characters . _ # - and are
 * followed by the end, a dot or an underscore ("input_reduce_fusion_12", "copy.3.clone", "ProfilerStep#4"); integers that are the value
 * of a word ("aten::mm, seq = 7, op_id = 12"); line numbers of Python functions ("module.py(1743): forward"); and the hash of a
 * compiled graph ("## Call CompiledFxGraph fal4xpiah2v6blbf ##"). It keeps "float32", "sm80_xmma" and "<lambda>".
 *
 * Python writes an address into the name of an object: "<built-in method sqrt of Tensor object at 0x7f36941d5310>". HCCL writes the end
 * of the communicator's id, a count of calls and an iteration into the name of each collective: "hcom_allReduce__586_0_1". */
#include "fold.h"

#include <string.h>

#include "base/text.h"

static const char ADDRESS[] = " at 0x";

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

static bool is_word(char c) { return ascii_digit(c) || c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

/* Returns the position after the > that closes the < at p; NULL if there is none. The > in "->" does not count. */
static const char *end_of_template(const char *p, const char *end) {
  size_t depth = 0;
  for (const char *q = p; q < end; q++) {
    if (*q == '<') depth++;
    else if (*q == '>' && q[-1] != '-' && --depth == 0) return q + 1;
  }
  return NULL;
}

static const char *end_of_number(const char *p, const char *end) {
  while (p < end && ascii_digit(*p)) p++;
  return p == end || *p == '.' || *p == '_' ? p : NULL;
}

/* True if the text before p is "word =" or "word=". */
static bool is_value(const char *begin, const char *p) {
  if (p[-1] == ' ' && p - begin > 1) p--;
  if (p[-1] != '=' || p - begin < 2) return false;
  p--;
  if (p[-1] == ' ' && p - begin > 1) p--;
  return is_word(p[-1]);
}

/* Returns the end of the number at p; NULL if it continues, as in 0x1f, 1.5 or 3-4. */
static const char *end_of_value(const char *p, const char *end) {
  while (p < end && ascii_digit(*p)) p++;
  return p == end || (*p && strchr(" ,;)]}", *p)) ? p : NULL;
}

/* Returns the end of the address if its first digit is at p; otherwise NULL. The text starts at `begin`. */
static const char *end_of_address(const char *begin, const char *p, const char *end) {
  const size_t n = sizeof ADDRESS - 1;
  if ((size_t)(p - begin) < n || memcmp(p - n, ADDRESS, n) != 0) return NULL;
  const char *q = p;
  while (q < end && ascii_hex(*q)) q++;
  return q > p && (q == end || !is_word(*q)) ? q : NULL;
}

static const char GRAPH[] = "CompiledFxGraph ";

enum { LEAST_HASH = 16 };

/* Returns the end of the hash of a TorchInductor graph (torch/_inductor/output_code.py) if the hash starts at p; otherwise NULL. The
 * hash depends on the code, the versions and the machine. */
static const char *end_of_hash(const char *begin, const char *p, const char *end) {
  const size_t n = sizeof GRAPH - 1;
  if ((size_t)(p - begin) < n || memcmp(p - n, GRAPH, n) != 0) return NULL;
  const char *q = p;
  while (q < end && (ascii_digit(*q) || is_lower(*q))) q++;
  return q - p >= LEAST_HASH && (q == end || !is_word(*q)) ? q : NULL;
}

/* Forms of line numbers in profilers' names of Python functions: `before`, the number, `after`. */
static const struct {
  const char *before, *after;
} LINES[] = {
    {".py(", "): "}, /* torch.profiler: "torch/nn/modules/module.py(1743): _call_impl" */
    {".py:", " "},   /* JAX and TensorFlow: "$api.py:3165 try_to_block" */
    {".py:", ")"},   /* viztracer and py-spy: "step (/app/train.py:12)" */
    {".pyx:", ")"}, {".pyx(", "): "},
    {">:", ")"}, {">(", "): "}, /* code without a file: "_find_and_load (<frozen importlib>:1022)", "<string>(1): <module>" */
};

/* Returns the end of the line number if its first digit is at p; otherwise NULL. The text starts at `begin`. */
static const char *end_of_line(const char *begin, const char *p, const char *end) {
  const char *q = p;
  while (q < end && ascii_digit(*q)) q++;
  for (size_t i = 0; q > p && i < sizeof LINES / sizeof *LINES; i++) {
    const size_t n = strlen(LINES[i].before), m = strlen(LINES[i].after);
    const bool fits = (size_t)(p - begin) >= n && (size_t)(end - q) >= m;
    if (fits && memcmp(p - n, LINES[i].before, n) == 0 && memcmp(q, LINES[i].after, m) == 0) return q;
  }
  return NULL;
}

/* Returns the end of the part that starts at p and must be replaced; NULL if there is none. The text starts at `begin`. Every < before
 * *balanced is known to be unclosed. */
static const char *cut_at(const char *begin, const char *p, const char *end, const char **balanced) {
  const char *part = end_of_address(begin, p, end);
  if (!part) part = end_of_hash(begin, p, end);
  if (!part) part = end_of_line(begin, p, end);
  if (part) return part;
  if (p == begin) return NULL;
  if (ascii_digit(*p) && p[-1] && strchr("._#-", p[-1])) return end_of_number(p, end);
  if (ascii_digit(*p) && is_value(begin, p)) return end_of_value(p, end);
  if (*p != '<' || !is_word(p[-1]) || p < *balanced) return NULL;
  const char *behind = end_of_template(p, end);
  if (!behind) *balanced = end; /* no later < is closed either; searching again at each would take quadratic time */
  return behind;
}

bool fold_name(struct buf *out, const char *p, size_t n) {
  const char *begin = p, *end = p + n, *balanced = p;
  out->len = 0;
  if (!buf_reserve(out, 2 * n + 1)) return false;
  while (p < end) {
    const char *behind = cut_at(begin, p, end, &balanced);
    if (!behind) {
      out->data[out->len++] = (uint8_t)*p++;
      continue;
    }
    const bool angles = *p == '<';
    memcpy(out->data + out->len, angles ? "<*>" : "*", angles ? 3 : 1);
    out->len += angles ? 3 : 1;
    p = behind;
  }
  return true;
}

bool fold_step(struct buf *out, const char *p, size_t n) {
  size_t end = n;
  while (end && ascii_digit(p[end - 1])) end--;
  return fold_name(out, p, end > 1 && end < n && p[end - 1] == ' ' ? end - 1 : n);
}

/* Replaces each part that `end_of` finds by *. Does nothing if the text does not contain `hint`. */
static bool fold_parts(struct buf *out, const char **p, size_t *n, const char *hint,
                       const char *(*end_of)(const char *begin, const char *p, const char *end)) {
  const char *const begin = *p, *const end = begin + *n;
  if (!memmem(begin, *n, hint, strlen(hint))) return true;
  out->len = 0;
  if (!buf_reserve(out, *n + 1)) return false;
  for (const char *q = begin; q < end;) {
    const char *behind = end_of(begin, q, end);
    out->data[out->len++] = behind ? '*' : (uint8_t)*q;
    q = behind ? behind : q + 1;
  }
  *p = (const char *)out->data;
  *n = out->len;
  return true;
}

/* True for the name of a collective of HCCL, which ends in three numbers: "hcom_allReduce__586_0_1". */
static bool is_hccl(const char *p, size_t n) {
  static const char HEAD[] = "hcom_";
  if (n < sizeof HEAD || memcmp(p, HEAD, sizeof HEAD - 1) != 0) return false;
  for (int i = 0; i < 3; i++) {
    const size_t end = n;
    while (n && ascii_digit(p[n - 1])) n--;
    if (n == end || !n || p[--n] != '_') return false;
  }
  return true;
}

/* Returns the end of the number at p, which must follow an underscore; NULL if there is none. */
static const char *end_of_call(const char *begin, const char *p, const char *end) {
  return p > begin && p[-1] == '_' && ascii_digit(*p) ? end_of_number(p, end) : NULL;
}

bool fold_addresses(struct buf *out, const char **p, size_t *n) { return fold_parts(out, p, n, ADDRESS, end_of_address); }

bool fold_varying(struct buf *out, const char **p, size_t *n) {
  return is_hccl(*p, *n) ? fold_parts(out, p, n, "_", end_of_call) : fold_addresses(out, p, n);
}

bool fold_hashes(struct buf *out, const char **p, size_t *n) { return fold_parts(out, p, n, GRAPH, end_of_hash); }

bool fold_lines(struct buf *out, const char **p, size_t *n) {
  return fold_parts(out, p, n, memmem(*p, *n, ".py", 3) ? ".py" : ">", end_of_line);
}
