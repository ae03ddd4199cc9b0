/* flow_points.c - finds debug annotations by their integer value, and the value by the annotation's number. */
#include "flow_points.h"

#include "fields.h"

static bool integer_of(const struct pb_field *annotation, int64_t *value) {
  struct pb c = pb_inside(annotation);
  struct pb_field f;
  bool found = false;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(ANNOTATION_INT, PB_VARINT)) *value = (int64_t)f.value, found = true;
  return found;
}

uint32_t flow_point_arg_of_id(struct pb event, int64_t id) {
  struct pb_field f;
  int64_t value = 0;
  uint32_t n = 0;
  while (pb_next(&event, &f)) {
    if (pb_field_key(&f) != PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES)) continue;
    n++;
    if (integer_of(&f, &value) && value == id) return n;
  }
  return 0;
}

int64_t flow_point_id_of_arg(struct pb event, uint64_t number) {
  struct pb_field f;
  int64_t value = 0;
  while (number && pb_next(&event, &f))
    if (pb_field_key(&f) == PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES) && --number == 0) integer_of(&f, &value);
  return value;
}
