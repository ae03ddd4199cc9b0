/* fold.c - see fold.h.
 *
 * Removes balanced <...> after a word. Also removes numbers that follow one of the characters . _ # - and are followed by the
 * end, a dot or an underscore: "input_reduce_fusion_12", "copy.3.clone", "ProfilerStep#4", and whole numbers that are the value of a
 * word: "aten::mm, seq = 7, op_id = 12". Keeps "float32", "sm80_xmma" and "<lambda>". */
#include "fold.h"

#include <string.h>

#include "base/text.h"

static bool is_word(char c) { return ascii_digit(c) || c == '_' || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

/* Returns the position after the > that closes the < at p; NULL if there is none.  The > in "->" does not count. */
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

/* Returns the end of the number at p; NULL if it is a part of something longer, such as 0x1f, 1.5 or 3-4. */
static const char *end_of_value(const char *p, const char *end) {
  while (p < end && ascii_digit(*p)) p++;
  return p == end || (*p && strchr(" ,;)]}", *p)) ? p : NULL;
}

/* Returns the end of the part to remove at p; NULL if nothing is to be removed there. The text starts at `begin`. */
static const char *cut_at(const char *begin, const char *p, const char *end, const char **balanced) {
  if (p == begin) return NULL;
  if (ascii_digit(*p) && p[-1] && strchr("._#-", p[-1])) return end_of_number(p, end);
  if (ascii_digit(*p) && is_value(begin, p)) return end_of_value(p, end);
  if (*p != '<' || !is_word(p[-1]) || p < *balanced) return NULL;
  const char *behind = end_of_template(p, end);
  if (!behind) *balanced = end; /* no < after this point is closed; searching again at each < would take quadratic time */
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
