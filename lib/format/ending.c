/* ending.c - see ending.h. */
#include "ending.h"

#include "json.h"
#include "pb.h"

static bool fields_are_whole(struct in *in, struct tk_err *err) {
  struct pb_in s = {.in = in, .err = err};
  struct pb_field f;
  enum pb_status status;
  while ((status = pb_in_next(&s, UINT64_MAX, &f)) == PB_FIELD)
    if (f.wire == PB_BYTES && (status = pb_in_skip(&s, f.value)) != PB_FIELD) break;
  return status == PB_DONE;
}

/* Updates *first and *last, the first and the last character of the document that are not whitespace, by the next n bytes. */
static void find_ends(const uint8_t *p, size_t n, int *first, int *last) {
  size_t at = 0;
  while (at < n && json_is_space(p[at])) at++;
  if (at == n) return;
  if (!*first) *first = p[at];
  while (json_is_space(p[n - 1])) n--;
  *last = p[n - 1];
}

/* True if the last character can end the document. In Chrome's format, the array of events may lack its closing bracket, but an
 * object may not lack its closing brace. */
static bool json_is_whole(struct in *in, struct tk_err *err) {
  int first = 0, last = 0;
  size_t n;
  const uint8_t *p;
  while ((p = in_ahead(in, 1, &n, err)) != NULL && n > 0) {
    find_ends(p, n, &first, &last);
    in_consume(in, n);
  }
  if (!p) return false;
  if (first == '[') return last == ']' || last == '}' || last == ',';
  return first != '{' || last == '}';
}

static bool is_readable(struct in *in, struct tk_err *err) {
  size_t n;
  const uint8_t *p;
  while ((p = in_ahead(in, 1, &n, err)) != NULL && n > 0) in_consume(in, n);
  return p != NULL;
}

static bool has_repairs(const struct in *in) {
  const struct in_note *notes;
  const size_t n = in_notes(in, &notes);
  for (size_t i = 0; i < n; i++)
    if (notes[i].repair) return true;
  return in_is_damaged(in);
}

bool ending_is_whole(const struct format *f, struct in *in) {
  struct tk_err err = {.offset = UINT64_MAX};
  const bool whole = f->shape ? fields_are_whole(in, &err) : f->json ? json_is_whole(in, &err) : is_readable(in, &err);
  return whole && !has_repairs(in);
}
