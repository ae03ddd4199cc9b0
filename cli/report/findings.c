/* findings.c - see findings.h. */
#include "findings.h"

#include "print/tty.h"
#include "print/wrap.h"

#include <stdio.h>
#include <string.h>

/* Writes the step and the time of a finding: "step 3, +1.5 s: "; "" if it has neither. */
static void write_place(const struct tk_report_finding *f, char *text, size_t room) {
  char time[48];
  size_t n = 0;
  *text = 0;
  if (f->has_step) n = (size_t)snprintf(text, room, "step %lld%s", (long long)f->step, f->length >= 0 ? ", " : ": ");
  if (f->length < 0) return;
  tk_print_duration(f->at, time);
  snprintf(text + n, room - n, "+%s: ", time);
}

static void print_finding(const struct tk_report_finding *f) {
  enum { INDENT = 9 };
  const bool bad = strcmp(f->severity, "bad") == 0;
  struct wrap w = { .to = stdout, .width = tty_width(stdout), .indent = INDENT, .column = INDENT };
  char place[128];
  printf("%s%-8s%s ", tty_style(stdout, bad ? TTY_BAD : TTY_DOUBT), f->severity, tty_style(stdout, TTY_PLAIN));
  wrap_text(&w, f->text);
  printf("\n%*s", INDENT, "");
  w.column = INDENT;
  write_place(f, place, sizeof place);
  fputs(place, stdout);
  w.column += strlen(place);
  wrap_text(&w, f->advice);
  putchar('\n');
}

/* Explains a report without findings. The limits of key figures differ from the thresholds of findings. */
static void print_none(const struct tk_report *r) {
  char bad[512];
  size_t n = 0;
  for (size_t i = 0; i < r->n_figures && n < sizeof bad; i++)
    if (strcmp(r->figures[i].verdict, "bad") == 0)
      n += (size_t)snprintf(bad + n, sizeof bad - n, "%s%s", n ? ", " : "", r->figures[i].name);
  if (n) wrap_note("none: no finding is beyond its threshold, but these key figures are bad: %s", bad);
  else wrap_note("none: no figure that these traces contain is beyond its threshold");
}

void findings_print(const struct tk_report *r, size_t most) {
  char text[64];
  wrap_title("Findings");
  for (size_t i = 0; i < r->n_findings && i < most; i++) print_finding(&r->findings[i]);
  if (r->n_findings > most) wrap_note("%s more: report --findings", tty_count(r->n_findings - most, text));
  if (r->unjudged) wrap_note("not judged: %s", r->unjudged);
  else if (!r->n_findings) print_none(r);
}
