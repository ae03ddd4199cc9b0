/* settings.c - finds settings in the table of formats (settings.h). */
#include "settings.h"

#include <string.h>

#include "format.h"

static const struct setting *setting_at(size_t i) {
  const struct format *f;
  for (size_t k = 0; (f = format_row(k)); k++) {
    if (i < f->n_settings) return &f->settings[i];
    i -= f->n_settings;
  }
  return NULL;
}

const struct tk_setting *tk_setting(size_t i) {
  const struct setting *s = setting_at(i);
  return s ? &s->info : NULL;
}

/* True if the first n bytes of the text are "FORMAT.NAME" of the setting. */
static bool setting_is(const struct tk_setting *s, const char *text, size_t n) {
  const size_t format = strlen(s->format), name = strlen(s->name);
  return n == format + 1 + name && memcmp(text, s->format, format) == 0 && text[format] == '.' &&
         memcmp(text + format + 1, s->name, name) == 0;
}

/* Returns the setting and its value; NULL with err if the text is invalid. */
static const struct setting *parse_setting(const char *text, bool saving, bool *value, struct tk_err *err) {
  const size_t n = strcspn(text, "=");
  const struct setting *s;
  size_t i = 0;
  while ((s = setting_at(i)) && !(s->info.saving == saving && setting_is(&s->info, text, n))) i++;
  *value = strcmp(text + n, "=true") == 0;
  if (!s) err_set(err, TK_EUSAGE, "unknown setting '%.80s' for %s", text, saving ? "saving" : "loading");
  else if (!*value && strcmp(text + n, "=false") != 0)
    err_set(err, TK_EUSAGE, "setting '%.80s': expected %s.%s=true or =false", text, s->info.format, s->info.name);
  else return s;
  return NULL;
}

bool settings_load(struct tk_load_options *opt, struct tk_err *err) {
  for (const char *const *p = opt->settings; p && *p; p++) {
    bool value;
    const struct setting *s = parse_setting(*p, false, &value, err);
    if (!s) return false;
    opt->with = value ? opt->with | s->with : opt->with & ~s->with;
  }
  return true;
}

bool settings_save(const struct tk_save_options *opt, const char *format, struct sink_options *sink, struct tk_err *err) {
  for (const char *const *p = opt->settings; p && *p; p++) {
    bool value;
    const struct setting *s = parse_setting(*p, true, &value, err);
    if (!s) return false;
    if (strcmp(s->info.format, format) == 0) memcpy((char *)sink + s->flag, &value, sizeof value);
  }
  return true;
}
