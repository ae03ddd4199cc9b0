/* fields.c - generates docs/fields.md (see fields.h). The test tests/property/fields.py compares the schemas with this page. */
#include "fields.h"

#include "tracekit.h"

static const char *type_of(const struct tk_field *f) {
  static const char *const names[] = { "bool", "integer", "count", "number", "time", "text", "texts", "row", "rows" };
  return names[f->type];
}

static const char *absence_of(const struct tk_field *f) {
  static const char *const names[] = { "", " or null", ", optional" };
  return names[f->unknown];
}

static void field_row(FILE *to, const struct tk_field *f) {
  fprintf(to, "| `%s` | %s", f->name, type_of(f));
  if (f->type == TK_TYPE_ROW || f->type == TK_TYPE_ROWS) fprintf(to, ": %s", tk_row_name(f->of));
  fprintf(to, "%s | %s |\n", absence_of(f), f->help);
}

void docs_fields(FILE *to) {
  fputs("# Fields of results\n"
        "\n"
        "`--json`, `--csv`, the library and Python use these names. A name ends in its unit: `_ns` is nanoseconds, exact to the\n"
        "picosecond; `_percent` is a percentage; `_gb_per_s` is 10^9 bytes per second. Numbers without a unit are counts.\n"
        "[analysis.md](analysis.md) defines the figures of a report.\n",
        to);
  for (int row = 0; row < TK_N_ROWS; row++) {
    size_t n;
    const struct tk_field *fields = tk_fields((enum tk_row)row, &n, NULL);
    fprintf(to, "\n## %s\n\n| field | type | meaning |\n|---|---|---|\n", tk_row_name((enum tk_row)row));
    for (size_t i = 0; i < n; i++) field_row(to, &fields[i]);
  }
}
