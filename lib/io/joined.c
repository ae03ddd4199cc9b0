/* joined.c - see joined.h. Each piece is opened when the previous one has been read, so only one is open at a time. Pieces of
 * protobuf need no separator, because concatenated messages are one message. */
#include "joined.h"

#include <string.h>

#include "layer.h"
#include "in.h"

struct joined {
  struct mem *mem;
  struct in_pieces pieces;
  struct in *outer; /* the input that reads all pieces, to which notes of the pieces are added */
  struct in *piece; /* the open piece; NULL = none */
  uint32_t next;
};

static bool starts_json(struct in *in) {
  size_t n;
  const uint8_t *p = in_ahead(in, 64, &n, NULL);
  for (size_t i = 0; p && i < n; i++)
    if (!p[i] || !strchr(" \t\r\n\xef\xbb\xbf", p[i])) return p[i] == '{' || p[i] == '[';
  return false;
}

static void close_piece(struct joined *j) {
  const struct in_note *notes;
  const size_t n = j->piece ? in_notes(j->piece, &notes) : 0;
  for (size_t i = 0; j->outer && i < n; i++) in_add_note(j->outer, notes[i].repair, notes[i].offset, "%s", notes[i].text);
  if (j->piece && j->outer && in_is_damaged(j->piece)) in_set_damaged(j->outer);
  in_close(j->piece);
  j->piece = NULL;
}

/* Reads from the current piece, and opens the next one at its end; IN_PIECE precedes each JSON piece but the first. Returns 0
 * at the end of all pieces, -1 on an error. */
static ptrdiff_t joined_read(void *self, uint8_t *out, size_t n, struct tk_err *err) {
  struct joined *j = self;
  size_t avail;
  for (;;) {
    const bool opened = !j->piece;
    if (opened && j->next == j->pieces.n) return 0;
    if (opened) j->piece = j->pieces.open(j->pieces.self, j->next++, j->mem, err);
    if (!j->piece) return -1;
    if (opened && j->next > 1 && starts_json(j->piece)) {
      *out = IN_PIECE;
      return 1;
    }
    const uint8_t *p = in_ahead(j->piece, 1, &avail, err);
    if (!p) return -1;
    if (avail == 0) {
      close_piece(j);
      continue;
    }
    if (avail > n) avail = n;
    memcpy(out, p, avail);
    in_consume(j->piece, avail);
    return (ptrdiff_t)avail;
  }
}

static void joined_close(void *self) {
  struct joined *j = self;
  j->outer = NULL;
  close_piece(j);
  if (j->pieces.close) j->pieces.close(j->pieces.self);
  mem_free(j->mem, j);
}

struct in *joined_open(struct in_pieces pieces, struct mem *mem, struct tk_err *err) {
  struct joined *j = mem_alloc(mem, sizeof *j);
  if (!j) {
    mem_check(mem, err);
    if (pieces.close) pieces.close(pieces.self);
    return NULL;
  }
  *j = (struct joined){.mem = mem, .pieces = pieces};
  struct in *in = in_custom((struct in_source){.read = joined_read, .close = joined_close, .self = j}, mem, err);
  if (!in) return NULL;
  j->outer = in;
  in_set_joined(in);
  in_add_note(in, false, UINT64_MAX, "%u pieces of one trace: read one after the other", pieces.n);
  return in;
}
