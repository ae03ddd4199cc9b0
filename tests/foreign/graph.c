/* graph.c - prints the library's results on files, to compare machines: the graph of each file as text, and how much of it
 * every format preserves. */
#include <tracekit.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *path, const struct tk_err *err) {
  printf("%s: code %d: %s\n", path, (int)err->code, err->msg);
  return 0;
}

static int through(struct tk_trace *t, const struct tk_format_info *f) {
  struct tk_err err = TK_ERR_INIT;
  struct tk_save_options options = { .format = f->name, .threads = 1 };
  struct tk_bytes bytes = { 0 };
  struct tk_saved saved;
  char name[64];
  snprintf(name, sizeof name, "x%s", f->ending);
  if (!tk_save_memory(t, name, &bytes, &options, &saved, &err)) return fail(f->name, &err);
  printf("%s: %llu events in %llu bytes", f->name, (unsigned long long)saved.events, (unsigned long long)saved.raw_bytes);
  struct tk_trace *again = f->can_read ? tk_load_memory(bytes.p, bytes.n, name, NULL, &err) : NULL;
  free(bytes.p);
  if (again) printf(", %u again", again->n_events);
  putchar('\n');
  tk_free(again);
  return again || !f->can_read || t->n_events == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  int status = tk_version() == TK_VERSION_NUMBER ? 0 : 1;
  for (int i = 1; i < argc; i++) {
    struct tk_err err = TK_ERR_INIT;
    struct tk_trace *t = tk_load(argv[i], NULL, &err);
    const struct tk_format_info *f;
    char *text = t ? tk_dump(t) : NULL;
    if (text) fputs(text, stdout);
    else fail(argv[i], &err);
    tk_free_text(text);
    for (size_t k = 0; t && (f = tk_format(k)); k++)
      if (f->can_write) status |= through(t, f);
    tk_free(t);
  }
  return status;
}
