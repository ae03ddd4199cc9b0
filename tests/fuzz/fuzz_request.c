/* fuzz_request.c - arbitrary bytes as a client's request to `view`. The parser accepts or rejects every prefix: everything that its
 * result refers to is within the bytes, more bytes never change a decision, and only requests with a loopback Host are allowed. */
#include "../../cli/view/request.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "request: %s\n", what);
  abort();
}

static void require_inside(struct view_text text, const char *bytes, size_t n) {
  require(!text.p || (text.p >= bytes && text.p + text.n <= bytes + n), "a text stands outside");
}

static bool names_loopback(struct view_text host) {
  return (host.n >= 9 && strncmp(host.p, "127.0.0.1", 9) == 0) || (host.n >= 9 && strncasecmp(host.p, "localhost", 9) == 0) ||
         (host.n >= 5 && strncmp(host.p, "[::1]", 5) == 0);
}

static void check_whole(const struct view_request *r, const char *bytes, size_t n) {
  require_inside(r->path, bytes, n);
  require_inside(r->host, bytes, n);
  require_inside(r->origin, bytes, n);
  require_inside(r->site, bytes, n);
  require_inside(r->mode, bytes, n);
  require_inside(r->dest, bytes, n);
  require(r->path.n && *r->path.p == '/', "a path begins otherwise");
  require(!memchr(r->path.p, '?', r->path.n) && !memchr(r->path.p, ' ', r->path.n), "a path has a query or a blank");
  require(r->host.p != NULL, "there is no host");
  if (view_allowed(r, false)) require(view_allowed(r, true), "the page is allowed less than others");
  if (view_allowed(r, true)) require(names_loopback(r->host), "another host is allowed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct view_request r;
  char *bytes = malloc(size ? size : 1); /* a block of exactly this size, so that sanitizers detect overreads */
  require(bytes != NULL, "no memory");
  memcpy(bytes, data, size);
  const enum view_parsed all = view_parse(bytes, size, &r);
  if (all == VIEW_WHOLE) check_whole(&r, bytes, size);
  if (size < 4096) {
    for (size_t n = 0; n < size; n++) {
      const enum view_parsed part = view_parse(bytes, n, &r);
      require(part == VIEW_PARTIAL || part == all, "more bytes change what was said");
    }
  }
  free(bytes);
  return 0;
}
