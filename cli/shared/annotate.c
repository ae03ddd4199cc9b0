/* annotate.c - see annotate.h. */
#include "annotate.h"

#include "print/html.h"
#include "print/tty.h"

#include <stdlib.h>
#include <string.h>

const struct opt_word annotate_words[] = {
  { "github", ANNOTATE_GITHUB, "GitHub workflow commands: errors appear next to the change" },
  { "junit", ANNOTATE_JUNIT, "JUnit XML: one test case for each assertion" },
  { 0, 0, 0 },
};

void annotate(struct annotations_of *a, const char *input, const char *what, const char *said, bool failed, bool unknown) {
  struct finding *v = realloc(a->v, (a->n + 1) * sizeof *v);
  if (a->as == ANNOTATE_NOT || !v) {
    if (v) a->v = v;
    a->out_of_memory = a->out_of_memory || !v;
    return;
  }
  a->v = v;
  v[a->n++] = (struct finding){ strdup(input), strdup(what), strdup(said), failed, unknown };
}

/* Percent-encodes '%', line ends and, in a property, ':' and ','. Other control characters are dropped. */
static void github_text(const char *text, bool property) {
  for (; *text; text++) {
    const bool special = *text == '%' || *text == '\r' || *text == '\n' || (property && (*text == ':' || *text == ','));
    if (special) printf("%%%02X", (unsigned char)*text);
    else if ((unsigned char)*text >= 0x20) putchar(*text);
  }
}

static void print_github(const struct annotations_of *a, const struct finding *f) {
  if (!f->failed && !f->unknown) return;
  printf("::error title=tracekit %s,file=", a->command);
  github_text(f->input, true);
  fputs("::", stdout);
  github_text(f->what, false);
  fputs(": ", stdout);
  github_text(f->said, false);
  putchar('\n');
}

static void print_junit(const struct annotations_of *a) {
  size_t failed = 0, errors = 0;
  for (size_t i = 0; i < a->n; i++) failed += a->v[i].failed, errors += a->v[i].unknown;
  printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tracekit %s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
         a->command, a->n, failed, errors);
  for (size_t i = 0; i < a->n; i++) {
    const struct finding *f = &a->v[i];
    fputs("<testcase classname=\"", stdout);
    html_string(stdout, f->input);
    fputs("\" name=\"", stdout);
    html_string(stdout, f->what);
    fputs("\">", stdout);
    if (f->failed || f->unknown) {
      printf("<%s message=\"", f->failed ? "failure" : "error");
      html_string(stdout, f->said);
      fputs("\"/>", stdout);
    }
    fputs("</testcase>\n", stdout);
  }
  fputs("</testsuite>\n", stdout);
}

void annotate_end(struct annotations_of *a) {
  if (a->out_of_memory) tty_say("out of memory: some findings are missing from the output");
  for (size_t i = 0; a->as == ANNOTATE_GITHUB && i < a->n; i++) print_github(a, &a->v[i]);
  if (a->as == ANNOTATE_JUNIT) print_junit(a);
  for (size_t i = 0; i < a->n; i++) {
    free(a->v[i].input);
    free(a->v[i].what);
    free(a->v[i].said);
  }
  free(a->v);
  a->v = NULL;
  a->n = 0;
}
