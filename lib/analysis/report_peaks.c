/* report_peaks.c - finds the peak rates of a row's device, either in its XPlane metadata, or by the device's name in a table
 * (device_peaks.h). If the name is not certain, no peaks are used. */
#include "report.h"

#include <string.h>

#include "base/num.h"
#include "format/json.h"

struct text {
  const char *p;
  size_t n;
};

static struct text meta_text(const struct tk_trace *t, const char *key) {
  const struct tk_meta *m = trace_meta(t, key);
  if (!m || m->origin) return (struct text){NULL, 0};
  return (struct text){trace_raw(t, m->at), (size_t)m->size};
}

static struct text value_text(const struct json_value *v) { return (struct text){(const char *)v->p, (size_t)(v->end - v->p)}; }

static bool member_is(struct text object, const char *key, struct text value) {
  struct json_value v;
  return json_member(object.p, object.n, key, &v) && v.type == JSON_STRING && (size_t)(v.end - v.p) == value.n + 2 &&
         memcmp(v.p + 1, value.p, value.n) == 0;
}

/* Sets the peaks of the device with this name. If the table has no row for the name, sets only the name. */
static void set_name(struct reporter *p, const char *name, size_t n, struct device_peaks *peaks) {
  const char *text = report_keep(p->impl, name, n);
  const struct device_peaks *row = device_peaks_find(text);
  *peaks = row ? *row : (struct device_peaks){.name = text};
}

static bool named_by(struct reporter *p, struct text object, const char *key, struct device_peaks *peaks) {
  struct json_value v;
  if (!json_member(object.p, object.n, key, &v) || v.type != JSON_STRING || v.end - v.p < 3) return false;
  set_name(p, (const char *)v.p + 1, (size_t)(v.end - v.p) - 2, peaks);
  return true;
}

/* ---- XPlane ---- */

/* Reads a positive number; 0 if the stat is missing or is not a number. */
static double stat_of(struct text stats, const char *key) {
  struct json_value v;
  if (!json_member(stats.p, stats.n, key, &v) || v.type != JSON_NUMBER) return 0;
  const double number = num_double((const char *)v.p, (size_t)(v.end - v.p));
  return number > 0 && number < 1e30 ? number : 0;
}

static bool peaks_of_plane(struct reporter *p, struct text plane, struct device_peaks *peaks) {
  struct json_value stats;
  if (!json_member(plane.p, plane.n, "stats", &stats) || stats.type != JSON_OBJECT) return false;
  const struct text s = value_text(&stats);
  if (!named_by(p, s, "gpu_device_name", peaks)) named_by(p, s, "device_type_string", peaks);
  const double tera = stat_of(s, "peak_teraflops_per_second"), giga = stat_of(s, "peak_hbm_bw_gigabytes_per_second");
  const double bandwidth = giga > 0 ? 1e9 * giga : stat_of(s, "memory_bandwidth");
  if (tera > 0) peaks->any = 1e12 * tera;
  if (bandwidth > 0) peaks->bandwidth = bandwidth;
  return true;
}

/* Finds the row's plane by name in the XPlane metadata, and reads the peaks from it. Returns false if there is no such plane. */
static bool find_plane(struct reporter *p, const struct work_row *w, struct device_peaks *peaks) {
  const struct text space = meta_text(p->t, "xspace");
  struct json_value planes, plane;
  struct text name;
  name.p = tk_string(p->t, p->t->tracks[w->process].name, &name.n);
  if (!space.p || !name.n || !json_member(space.p, space.n, "planes", &planes) || planes.type != JSON_ARRAY) return false;
  struct json j = {.p = planes.p + 1, .end = planes.end, .last = true};
  while (json_blank(&j) && *j.p == '{' && json_value(&j, &plane)) {
    if (member_is(value_text(&plane), "name", name)) return peaks_of_plane(p, value_text(&plane), peaks);
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  return false;
}

/* ---- Kineto ---- */

/* Finds the device's name in the element of deviceProperties whose id is the pid of the row's process. Returns false if
 * there is none. */
static bool find_properties(struct reporter *p, struct text list, const struct work_row *w, struct device_peaks *peaks) {
  const struct tk_ident *pid = &p->t->tracks[w->process].pid;
  struct json_value device, id;
  if (!list.n || *list.p != '[' || pid->kind != TK_IDENT_INT) return false;
  struct json j = {.p = (const uint8_t *)list.p + 1, .end = (const uint8_t *)list.p + list.n, .last = true};
  while (json_blank(&j) && *j.p == '{' && json_value(&j, &device)) {
    const struct text d = value_text(&device);
    const bool is = json_member(d.p, d.n, "id", &id) && id.type == JSON_NUMBER && id.num.kind == NUM_INT;
    if (is && id.num.mant == pid->num) return named_by(p, d, "name", peaks);
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
  return false;
}

/* Stores the value of the keys "name" in a JSON text in *name. Returns false if several values differ, or if *name is already set to a
 * different value. */
static bool same_names(struct text in, struct text *name) {
  static const char KEY[] = "\"name\":\"";
  const char *at = in.p;
  while (in.n && (at = memmem(at, in.n - (size_t)(at - in.p), KEY, sizeof KEY - 1))) {
    at += sizeof KEY - 1;
    const struct text found = {at, strcspn(at, "\"\\")};
    if (name->p && (name->n != found.n || memcmp(name->p, found.p, found.n) != 0)) return false;
    *name = found;
  }
  return true;
}

/* If all devices of all ranks have the same name, finds the peaks by this name. Returns false if names differ: a merge changes the
 * numbers of devices, so it is then uncertain which name belongs to the row. */
static bool find_common(struct reporter *p, struct text list, struct device_peaks *peaks) {
  struct text name = {NULL, 0};
  if (!same_names(list, &name) || !name.n || !same_names(meta_text(p->t, "tracekit"), &name)) return false;
  set_name(p, name.p, name.n, peaks);
  return true;
}

/* Bytes of metadata that are searched for the devices of a trace, which may have as many devices as events. */
enum { MOST_SEARCHED = 1 << 28 };

void report_peaks_find(struct reporter *p, const struct work_row *w, struct device_peaks *peaks) {
  const struct text list = meta_text(p->t, "deviceProperties");
  *peaks = (struct device_peaks){.name = ""};
  if (p->flops.searched > MOST_SEARCHED) return;
  p->flops.searched += meta_text(p->t, "xspace").n + list.n + meta_text(p->t, "tracekit").n;
  if (find_plane(p, w, peaks)) return;
  if (list.p && !find_properties(p, list, w, peaks)) find_common(p, list, peaks);
}
