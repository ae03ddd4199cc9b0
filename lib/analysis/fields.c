/* fields.c - reads the values of fields (fields.h). */
#include "fields.h"

#include <string.h>

static struct tk_total total_of(tk_time time) {
  const tk_time second = 1000000000000;
  return (struct tk_total){time / second, time % second};
}

bool field_time(struct tk_value *v, tk_time time, bool known) {
  v->time = total_of(time);
  return known;
}

bool field_number(struct tk_value *v, double number, bool known) {
  v->number = number;
  return known;
}

bool field_text(struct tk_value *v, const char *text) {
  v->text = text ? text : "";
  v->n = strlen(v->text);
  return v->n > 0;
}

static uint64_t count_at(const char *p, size_t size) {
  uint32_t small;
  uint64_t large;
  if (size == sizeof small) {
    memcpy(&small, p, sizeof small);
    return small;
  }
  memcpy(&large, p, sizeof large);
  return large;
}

static void time_at(const char *p, size_t size, struct tk_value *v) {
  tk_time time;
  if (size == sizeof v->time) {
    memcpy(&v->time, p, sizeof v->time);
    return;
  }
  memcpy(&time, p, sizeof time);
  v->time = total_of(time);
}

static const void *pointer_at(const char *p) {
  const void *pointer;
  memcpy(&pointer, p, sizeof pointer);
  return pointer;
}

static size_t size_at(const char *p) {
  size_t n;
  memcpy(&n, p, sizeof n);
  return n;
}

static void stored(const struct tk_field *f, const char *row, struct tk_value *v) {
  const char *at = row + f->offset;
  switch (f->type) {
  case TK_TYPE_BOOL: memcpy(&v->truth, at, sizeof v->truth); break;
  case TK_TYPE_INT: memcpy(&v->integer, at, sizeof v->integer); break;
  case TK_TYPE_COUNT: v->count = count_at(at, f->size); break;
  case TK_TYPE_NUMBER: memcpy(&v->number, at, sizeof v->number); break;
  case TK_TYPE_TIME: time_at(at, f->size, v); break;
  case TK_TYPE_TEXT: field_text(v, pointer_at(at)); break;
  case TK_TYPE_ROW: v->rows = at, v->n = 1; break;
  case TK_TYPE_TEXTS:
    v->texts = pointer_at(at);
    v->n = size_at(row + f->n_offset);
    break;
  case TK_TYPE_ROWS:
    v->rows = pointer_at(at);
    v->n = size_at(row + f->n_offset);
    break;
  }
}

bool tk_field_value(const struct tk_field *f, const void *row, const void *owner, struct tk_value *v) {
  *v = (struct tk_value){.type = f->type};
  if (f->get) return f->get(row, owner, v);
  stored(f, row, v);
  return !f->known || f->known(row, owner);
}
