/* fields.c - rows of results as JSON (fields.h). */
#include "fields.h"

#include "csv.h"
#include "tty.h"

void fields_total(struct json *j, const char *key, struct tk_total total) {
  char text[48];
  tk_print_ns(total, text);
  json_raw(j, key, text);
}

void fields_time(struct json *j, const char *key, tk_time time) {
  const tk_time second = 1000000000000;
  fields_total(j, key, (struct tk_total){ time / second, time % second });
}

void fields_number(struct json *j, const char *key, double v) {
  char text[32];
  tk_print_number(v, text);
  json_raw(j, key, text);
}

/* Rounds shares, rates and means to three decimals, because their inputs are not more precise. */
static const char *number_text(const struct tk_field *f, double v, char *text) {
  const bool rounded = f->unit == TK_UNIT_PERCENT || f->unit == TK_UNIT_GB_PER_S || f->unit == TK_UNIT_MEAN;
  if (rounded) return tty_fraction(v, 3, text);
  tk_print_number(v, text);
  return text;
}

static void put_texts(struct json *j, const struct tk_field *f, const struct tk_value *v) {
  json_open(j, f->name, '[');
  for (size_t i = 0; i < v->n; i++) json_string(j, NULL, v->texts[i]);
  json_close(j, ']');
}

static void put_rows(struct json *j, const struct tk_field *f, const struct tk_value *v, const void *owner, size_t top) {
  size_t n, stride;
  tk_fields(f->of, &n, &stride);
  json_open(j, f->name, '[');
  for (size_t i = 0; i < v->n && (!f->ranked || i < top); i++)
    fields_object(j, NULL, f->of, (const char *)v->rows + i * stride, owner);
  json_close(j, ']');
}

void fields_json(struct json *j, enum tk_row kind, const void *row, const void *owner, size_t top) {
  size_t n;
  const struct tk_field *f = tk_fields(kind, &n, NULL);
  struct tk_value v;
  char text[48];
  for (const struct tk_field *end = f + n; f < end; f++) {
    if (!tk_field_value(f, row, owner, &v)) {
      if (f->unknown == TK_UNKNOWN_NULL) json_null(j, f->name);
      continue;
    }
    switch (f->type) {
      case TK_TYPE_BOOL: json_bool(j, f->name, v.truth); break;
      case TK_TYPE_INT: json_int(j, f->name, v.integer); break;
      case TK_TYPE_COUNT: json_uint(j, f->name, v.count); break;
      case TK_TYPE_NUMBER: json_raw(j, f->name, number_text(f, v.number, text)); break;
      case TK_TYPE_TIME: fields_total(j, f->name, v.time); break;
      case TK_TYPE_TEXT: json_text(j, f->name, v.text, v.n); break;
      case TK_TYPE_TEXTS: put_texts(j, f, &v); break;
      case TK_TYPE_ROW: fields_object(j, f->name, f->of, v.rows, row); break;
      case TK_TYPE_ROWS: put_rows(j, f, &v, row, top); break;
    }
  }
}

void fields_object(struct json *j, const char *key, enum tk_row kind, const void *row, const void *owner) {
  json_open(j, key, '{');
  fields_json(j, kind, row, owner, SIZE_MAX);
  json_close(j, '}');
}

/* ---- CSV ---- */

static bool is_cell(const struct tk_field *f) { return f->type != TK_TYPE_TEXTS && f->type != TK_TYPE_ROW && f->type != TK_TYPE_ROWS; }

static void csv_cell(const struct tk_field *f, const struct tk_value *v) {
  char text[48];
  switch (f->type) {
    case TK_TYPE_BOOL: fputs(v->truth ? "true" : "false", stdout); break;
    case TK_TYPE_INT: printf("%lld", (long long)v->integer); break;
    case TK_TYPE_COUNT: printf("%llu", (unsigned long long)v->count); break;
    case TK_TYPE_NUMBER: fputs(number_text(f, v->number, text), stdout); break;
    case TK_TYPE_TIME:
      tk_print_ns(v->time, text);
      fputs(text, stdout);
      break;
    default: csv_text(stdout, v->text, v->n); break;
  }
}

void fields_csv_names(enum tk_row kind) {
  size_t n;
  const struct tk_field *fields = tk_fields(kind, &n, NULL);
  for (size_t i = 0; i < n; i++)
    if (is_cell(&fields[i])) printf("%s%s", i ? "," : "", fields[i].name);
}

void fields_csv(enum tk_row kind, const void *row, const void *owner) {
  size_t n;
  const struct tk_field *fields = tk_fields(kind, &n, NULL);
  struct tk_value v;
  for (size_t i = 0; i < n; i++) {
    if (!is_cell(&fields[i])) continue;
    if (i) putchar(',');
    if (tk_field_value(&fields[i], row, owner, &v)) csv_cell(&fields[i], &v);
  }
}
