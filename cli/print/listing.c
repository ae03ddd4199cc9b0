/* listing.c - see listing.h. Times are milliseconds since the first event: to the nanosecond in the table, exact in JSON and
 * CSV. Printing them from integers makes them independent of the locale. */
#include "listing.h"

#include "csv.h"
#include "tty.h"

#include <stdlib.h>
#include <string.h>

enum { TIME = 32, PLACE = 256 };

/* ---- order ---- */

struct placed {
  tk_time ts;
  tk_id event;
};

/* Orders by time; at equal times by position in the graph, where parents precede their children. */
static int listing_by_time(const void *a, const void *b) {
  const struct placed *x = a, *y = b;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  return x->event < y->event ? -1 : x->event > y->event;
}

/* Returns the selected events in the order of time, their number in *n, and the time of the first event of the trace in
 * *start. */
static struct placed *in_order(const struct tk_trace *t, const uint8_t *selected, size_t *n, tk_time *start) {
  struct placed *v = malloc(((size_t)t->n_events + 1) * sizeof *v);
  if (!v) return NULL;
  *n = 0;
  *start = t->n_events ? INT64_MAX : 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    if (t->events[i].ts < *start) *start = t->events[i].ts;
    if (!selected || selected[i]) v[(*n)++] = (struct placed){ t->events[i].ts, i };
  }
  if (*n) qsort(v, *n, sizeof *v, listing_by_time);
  return v;
}

struct listed {
  const struct tk_trace *t;
  const struct columns *columns;
  tk_time start;
};

/* ---- values ---- */

/* Formats picoseconds as milliseconds, truncated to `decimals` decimals. With nine decimals, trailing zeros are removed. */
static const char *ms(tk_time ps, int decimals, char *text) {
  const unsigned long long v = ps < 0 ? 0 - (unsigned long long)ps : (unsigned long long)ps;
  int n = snprintf(text, TIME, "%s%llu.%09llu", ps < 0 ? "-" : "", v / 1000000000, v % 1000000000);
  if (decimals < 9) text[n - 9 + decimals] = 0;
  for (n--; decimals == 9 && text[n] == '0' && text[n - 1] != '.'; n--) text[n] = 0;
  return text;
}

static const char *kind_of(const struct tk_event *e) {
  return e->kind == TK_EVENT_SPAN ? "span" : e->kind == TK_EVENT_COUNTER ? "counter" : e->kind == TK_EVENT_SAMPLE
      ? "sample" : "instant";
}

static void ident(const struct tk_trace *t, const char *word, struct tk_ident id, tk_id name, char *text) {
  const char *said = tk_string(t, name, NULL);
  char number[128] = "";
  if (id.kind == TK_IDENT_STR) snprintf(number, sizeof number, "%.100s", tk_string(t, id.str, NULL));
  else if (id.kind != TK_IDENT_NONE) snprintf(number, sizeof number, "%lld", (long long)id.num);
  if (*said && *number && !strstr(said, number)) snprintf(text, PLACE, "%.100s %.100s", said, number);
  else if (*said || !*number) snprintf(text, PLACE, "%.200s", said);
  else snprintf(text, PLACE, "%s %.100s", word, number);
}

struct place {
  char process[PLACE], thread[PLACE];
};

static void place_of(const struct tk_trace *t, tk_id track, struct place *p) {
  const struct tk_track *k = &t->tracks[track], *process = k->kind == TK_TRACK_PROCESS ? k : &t->tracks[k->parent];
  *p->thread = 0;
  ident(t, "process", process->pid, process->name, p->process);
  if (k->kind != TK_TRACK_PROCESS && k->kind != TK_TRACK_ROOT) ident(t, "thread", k->tid, k->name, p->thread);
}

/* ---- a table ---- */

static void table_line(FILE *to, const struct listed *l, const struct tk_event *e) {
  const struct tk_trace *t = l->t;
  char a[TIME], b[TIME];
  struct place p;
  size_t n;
  const char *name = tk_string(t, t->classes[e->cls].name, &n);
  place_of(t, e->track, &p);
  fprintf(to, "%15s %13s  ", ms(e->ts - l->start, 6, a), e->kind == TK_EVENT_SPAN ? ms(e->dur, 6, b) : "-");
  fprintf(to, "%*s", e->kind == TK_EVENT_SPAN && e->depth < 20 ? 2 * e->depth : 0, "");
  tty_text(to, name, n);
  fputs("  (", to);
  tty_string(to, p.process);
  if (*p.thread) fputs(", ", to), tty_string(to, p.thread);
  fputc(')', to);
  columns_words(l->columns, to, (tk_id)(e - t->events));
  fputc('\n', to);
}

/* ---- lines for programs ---- */

/* Writes JSON text on one line. A line end in it is only white space between values, so a space replaces it. */
static void nested(struct json *j, const char *key, const char *text) {
  json_raw(j, key, "");
  for (; *text; text++) fputc(*text == '\n' || *text == '\r' ? ' ' : *text, j->to);
}

static void json_arg(struct json *j, const struct tk_trace *t, const struct tk_arg *arg) {
  char text[64];
  size_t n;
  const char *key = tk_string(t, arg->key, NULL), *s;
  switch (arg->type) {
    case TK_ARG_NULL: json_null(j, key); return;
    case TK_ARG_FALSE:
    case TK_ARG_TRUE: json_bool(j, key, arg->type == TK_ARG_TRUE); return;
    case TK_ARG_INT: json_int(j, key, arg->i); return;
    case TK_ARG_UINT:
    case TK_ARG_POINTER: json_uint(j, key, arg->u); return;
    case TK_ARG_DECIMAL: snprintf(text, sizeof text, "%llde%d", (long long)arg->i, (int)arg->exp), json_raw(j, key, text); return;
    case TK_ARG_DOUBLE:
      if (arg->d - arg->d != 0) json_null(j, key); /* infinite or NaN */
      else tk_print_number(arg->d, text), json_raw(j, key, text);
      return;
    case TK_ARG_JSON: nested(j, key, tk_string(t, arg->s, NULL)); return;
    default: s = tk_string(t, arg->s, &n), json_text(j, key, s, n);
  }
}

static void json_args(struct json *j, const struct tk_trace *t, const struct tk_event *e) {
  struct tk_arg arg;
  json_open(j, "args", '{');
  for (struct tk_args it = tk_args_of(t, t->classes[e->cls].args); tk_args_next(&it, &arg);) json_arg(j, t, &arg);
  for (struct tk_args it = tk_args_of(t, e->args); tk_args_next(&it, &arg);) json_arg(j, t, &arg);
  json_close(j, '}');
}

static void json_line(FILE *to, const struct listed *l, const struct tk_event *e) {
  const struct tk_trace *t = l->t;
  struct json j = { .to = to, .flat = true };
  const struct tk_class *c = &t->classes[e->cls];
  char text[TIME];
  struct place p;
  size_t n;
  const char *s = tk_string(t, c->name, &n);
  place_of(t, e->track, &p);
  json_open(&j, NULL, '{');
  json_raw(&j, "time_ms", ms(e->ts - l->start, 9, text));
  if (e->kind == TK_EVENT_SPAN) json_raw(&j, "dur_ms", ms(e->dur, 9, text));
  json_string(&j, "kind", kind_of(e));
  json_uint(&j, "depth", e->depth);
  json_string(&j, "process", p.process);
  json_string(&j, "thread", p.thread);
  json_text(&j, "name", s, n);
  if (c->cat) s = tk_string(t, c->cat, &n), json_text(&j, "category", s, n);
  columns_json(l->columns, &j, (tk_id)(e - t->events));
  json_args(&j, t, e);
  json_close(&j, '}');
}

static void csv_field(FILE *to, const char *text, size_t n) {
  fputc(',', to);
  csv_text(to, text, n);
}

static void csv_line(FILE *to, const struct listed *l, const struct tk_event *e) {
  const struct tk_trace *t = l->t;
  char a[TIME], b[TIME];
  struct place p;
  size_t n;
  const char *s = tk_string(t, t->classes[e->cls].name, &n);
  place_of(t, e->track, &p);
  fprintf(to, "%s,%s,%s,%u", ms(e->ts - l->start, 9, a), e->kind == TK_EVENT_SPAN ? ms(e->dur, 9, b) : "", kind_of(e), e->depth);
  csv_field(to, p.process, strlen(p.process));
  csv_field(to, p.thread, strlen(p.thread));
  csv_field(to, s, n);
  s = tk_string(t, t->classes[e->cls].cat, &n);
  csv_field(to, s, n);
  columns_csv(l->columns, to, (tk_id)(e - t->events));
  fputc('\n', to);
}

/* ---- entry points ---- */

static void csv_head(FILE *to, const struct columns *columns) {
  fputs("time_ms,dur_ms,kind,depth,process,thread,name,category", to);
  columns_csv_names(columns, to);
  fputc('\n', to);
}

bool listing_print(FILE *to, const struct tk_trace *t, const struct listing *l, const struct columns *columns) {
  void (*const line[])(FILE *to, const struct listed *l, const struct tk_event *e) = { table_line, json_line, csv_line };
  struct listed listed = { .t = t, .columns = columns };
  size_t all;
  struct placed *v = in_order(t, l->selected, &all, &listed.start);
  if (!v) return false;
  const enum listing_form form = l->form;
  const size_t n = l->head && l->head < all ? l->head : all;
  if (form == LISTING_CSV) csv_head(to, columns);
  if (form == LISTING_TABLE) fprintf(to, "%15s %13s  name (process, thread)\n", "time in ms", "duration");
  for (size_t i = 0; i < n && !ferror(to); i++) line[form](to, &listed, &t->events[v[i].event]);
  if (form == LISTING_TABLE && n < all) fprintf(to, "%15s %13s  (%zu of %zu events)\n", "...", "", n, all);
  free(v);
  return true;
}
