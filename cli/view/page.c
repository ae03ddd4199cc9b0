/* page.c - see page.h.
 *
 * The Content-Security-Policy allows the page only to use its own script and style, and to connect to and frame its own server
 * and ui.perfetto.dev. There is no Cross-Origin-Opener-Policy, because it would separate the page from a tab that the page
 * opens, and the page could not pass the trace to that tab. */
#include "page.h"

#include <string.h>

static const char PAGE[] =
#include "page.html.inc"
  ;
static const char STYLE[] =
#include "page.css.inc"
  ;
static const char SCRIPT[] =
#include "page.js.inc"
  ;

static const char POLICY[] =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self' https://ui.perfetto.dev; "
  "frame-src 'self' https://ui.perfetto.dev; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

bool view_page_answer(struct view_text name, struct view_reply *reply) {
  static const struct {
    const char *name, *type, *text;
    size_t size;
  } files[] = { { "", "text/html; charset=utf-8", PAGE, sizeof PAGE - 1 },
                { "page.css", "text/css; charset=utf-8", STYLE, sizeof STYLE - 1 },
                { "page.js", "text/javascript; charset=utf-8", SCRIPT, sizeof SCRIPT - 1 } };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (!view_text_is(name, files[i].name)) continue;
    *reply = (struct view_reply){
      .status = 200, .type = files[i].type, .policy = POLICY, .body = files[i].text, .size = files[i].size };
    return true;
  }
  return false;
}
