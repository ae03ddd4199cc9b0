/* html.c - see html.h. */
#include "html.h"

#include "tty.h"

#include <string.h>

static const char STYLE[] =
  ":root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d8dee4;--card:#f6f8fa;--c0:#2f6fde;--c1:#d9822b;"
  "--c2:#7a52c7;--c3:#b0a8c9;--i0:#dfe3e8;--i1:#c9ced6;--i2:#b4bac4;--bad:#c62f3b;--warn:#b7791f}"
  "@media(prefers-color-scheme:dark){:root{--bg:#11151a;--fg:#e6e9ed;--dim:#9aa4b0;--line:#2d343c;--card:#1a2027;--c0:#5b95f5;"
  "--c1:#e8a04c;--c2:#a585ea;--c3:#6f6590;--i0:#2a3038;--i1:#3a424c;--i2:#4a5460;--bad:#f0707a;--warn:#e0b050}}"
  "@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--dim:#444;--line:#bbb;--card:#fff;--c0:#2f6fde;--c1:#d9822b;"
  "--c2:#7a52c7;--c3:#b0a8c9;--i0:#e4e7eb;--i1:#cfd4da;--i2:#b9c0c8;--bad:#b00020;--warn:#8a5a00}"
  "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}section{break-inside:avoid-page}"
  ".scroll{overflow:visible!important}}*{box-sizing:border-box}"
  "body{margin:0 auto;max-width:1500px;padding:1rem;background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif}"
  "h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;margin:1.8rem 0 .4rem}"
  "p{margin:.3rem 0;color:var(--dim);max-width:75ch;overflow-wrap:anywhere}"
  ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}"
  ".card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.5rem .7rem}"
  ".card b{display:block;font-size:1.2rem;white-space:nowrap;font-variant-numeric:tabular-nums}"
  ".card span{color:var(--dim);font-size:.85rem}.scroll{overflow-x:auto}"
  "table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}"
  "th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap;vertical-align:top}"
  "th{color:var(--dim);font-weight:600}"
  "th.name,td.name{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:11rem;width:99%}"
  "td.name>div{display:-webkit-box;-webkit-line-clamp:3;-webkit-box-orient:vertical;overflow:hidden}"
  ".row{display:grid;grid-template-columns:11rem 1fr;gap:.2rem .8rem;align-items:center;margin:.25rem 0}"
  ".row>:first-child{overflow-wrap:anywhere;font-size:14px}"
  "svg{display:block;width:100%;height:34px;background:var(--i0);border-radius:3px}"
  "svg.histogram{margin-top:3px;background:var(--card);border-bottom:1px solid var(--dim);border-radius:0}"
  "td>svg.histogram{width:9rem;height:1.3rem}"
  "#timelines{touch-action:pan-y}#timelines svg{cursor:crosshair}"
  "#timelines:focus-visible{outline:2px solid var(--c0);outline-offset:4px}"
  "#range{color:var(--fg);font-variant-numeric:tabular-nums;min-height:1.4em}@media print{#how,#range{display:none}}"
  ".bar{display:flex;height:20px;border-radius:3px;overflow:hidden;background:var(--i0)}.bar i{display:block}"
  ".key span{overflow-wrap:anywhere}.key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:13px;color:var(--dim);margin:.3rem 0}"
  ".key i{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.35em}"
  ".c0{background:var(--c0);fill:var(--c0)}.c1{background:var(--c1);fill:var(--c1)}.c2{background:var(--c2);fill:var(--c2)}"
  ".c3{background:var(--c3);fill:var(--c3)}.i0{background:var(--i0);fill:var(--i0)}.i1{background:var(--i1);fill:var(--i1)}"
  ".i2{background:var(--i2);fill:var(--i2)}.bad{background:var(--bad);fill:var(--bad)}li{margin:.2rem 0}"
  ".good{background:#2e8b57;fill:#2e8b57}td.up{color:var(--bad)}td.down{color:#2e8b57}"
  ".s0{background:#2f6fde;fill:#2f6fde}.s1{background:#d9822b;fill:#d9822b}.s2{background:#7a52c7;fill:#7a52c7}"
  ".s3{background:#1b998b;fill:#1b998b}.s4{background:#c2457a;fill:#c2457a}.s5{background:#e0b040;fill:#e0b040}"
  ".s6{background:#b98e63;fill:#b98e63}.s7{background:#7fb069;fill:#7fb069}.s8{background:#d1605e;fill:#d1605e}"
  ".tools{display:flex;gap:.6rem;margin:.3rem 0;flex-wrap:wrap}.tools *{font:inherit;font-size:14px;color:inherit;"
  "background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.15rem .5rem}@media print{.tools{display:none}}"
  "[hidden]{display:none!important}"
  "th.sorts{cursor:pointer}th[aria-sort=ascending]::after{content:\" ▴\"}th[aria-sort=descending]::after{content:\" ▾\"}"
  ".place{text-decoration:underline dotted;cursor:copy}"
  ".flame{position:relative;overflow:hidden;background:var(--i0);border-radius:3px}"
  ".flame i{position:absolute;height:17px;overflow:hidden;white-space:nowrap;font:11px/17px ui-monospace,monospace;color:#000;"
  "padding-left:3px;border-right:1px solid var(--bg)}"
  ".s9{background:#8d99ae;fill:#8d99ae}.s10{background:var(--i1);fill:var(--i1)}.s11{background:#8b939c;fill:#8b939c}"
  ".bar+svg{margin-top:3px}"
  ".finding{border-left:5px solid var(--warn);background:var(--card);border-radius:4px;padding:.4rem .7rem;margin:.4rem 0;"
  "break-inside:avoid;overflow-wrap:anywhere}.finding b{color:var(--warn);margin-right:.5em}.finding p{max-width:none}"
  ".v0{color:#2e8b57}.v1{color:var(--warn)}.v2{color:var(--bad)}"
  ".finding.severe{border-color:var(--bad)}.finding.severe b{color:var(--bad)}"
  "@media(max-width:600px){body{padding:.7rem}.minor{display:none}.row{grid-template-columns:1fr}th,td{padding:.25rem .35rem}}";

void html_begin(FILE *to, const char *title) { html_begin_with(to, title, NULL); }

void html_begin_with(FILE *to, const char *title, const char *hash) {
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:", to);
  if (hash) fprintf(to, "; script-src '%s'", hash);
  fputs("\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><link rel=\"icon\" href=\"data:,\">\n<title>", to);
  html_string(to, title);
  fprintf(to, "</title>\n<style>%s</style></head>\n<body>\n", STYLE);
}

void html_script(FILE *to, const char *script) { fprintf(to, "<script>%s</script>\n", script); }

void html_end(FILE *to) { fputs("</body></html>\n", to); }

void html_section(FILE *to, const char *title, const char *words) {
  fprintf(to, "<section><h2>%s</h2>\n", title);
  if (words) fprintf(to, "<p>%s</p>\n", words);
}

void html_section_end(FILE *to) { fputs("</section>\n", to); }

void html_text(FILE *to, const char *text, size_t n) {
  for (const char *p = text; p < text + n; p++) {
    const char *escaped = *p == '&' ? "&amp;" : *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '"' ? "&quot;" : NULL;
    if ((unsigned char)*p < 0x20 || *p == 0x7f) escaped = "\xef\xbf\xbd";
    if (escaped) fputs(escaped, to);
    else fputc(*p, to);
  }
}

void html_string(FILE *to, const char *text) { html_text(to, text, strlen(text)); }

/* ---- tables ---- */

static void begin_cell(struct html_table *t, const char *tag) {
  const struct html_column *c = &t->columns[t->at];
  const char *class = c->name ? " class=name" : c->minor ? " class=minor" : "";
  fprintf(t->to, "<%s%s>", tag, class);
}

void html_table_begin(struct html_table *t) {
  fputs("<div class=scroll><table><tr>", t->to);
  for (t->at = 0; t->columns[t->at].title; t->at++) {
    begin_cell(t, "th");
    fputs(t->columns[t->at].title, t->to);
    fputs("</th>", t->to);
  }
  fputs("</tr>\n", t->to);
  t->at = 0;
}

void html_cell(struct html_table *t, const char *text) { html_cell_name(t, text, text); }

void html_cell_begin(struct html_table *t) {
  if (t->at == 0) fputs("<tr>", t->to);
  begin_cell(t, "td");
}

void html_cell_end(struct html_table *t) {
  fputs("</td>", t->to);
  if (t->columns[++t->at].title) return;
  fputs("</tr>\n", t->to);
  t->at = 0;
}

void html_cell_name(struct html_table *t, const char *text, const char *full) {
  const bool name = t->columns[t->at].name;
  html_cell_begin(t);
  if (name) fputs("<div title=\"", t->to), html_string(t->to, full), fputs("\">", t->to);
  html_string(t->to, text);
  if (name) fputs("</div>", t->to);
  html_cell_end(t);
}

void html_table_end(struct html_table *t) { fputs("</table></div>\n", t->to); }

void html_cell_time(struct html_table *t, bool known, tk_time time) {
  char text[48] = "–";
  if (known) tk_print_duration(time, text);
  html_cell(t, text);
}

void html_cell_total(struct html_table *t, bool known, struct tk_total total) {
  char text[48] = "–";
  if (known) tk_print_total(total, text);
  html_cell(t, text);
}

void html_cell_percent(struct html_table *t, double part, double whole) {
  char text[32];
  html_cell(t, whole > 0 ? tty_fraction(100 * part / whole, 1, text) : "–");
}

void html_cell_count(struct html_table *t, uint64_t n) {
  char text[32];
  html_cell(t, tty_count(n, text));
}

void html_cell_bytes(struct html_table *t, bool known, double bytes) {
  char text[32] = "–";
  if (known && bytes < 1e19) tk_print_size((uint64_t)bytes, text);
  html_cell(t, text);
}

void html_cell_rate(struct html_table *t, double bytes, double seconds) {
  char text[32];
  html_cell(t, bytes > 0 && seconds > 0 ? tty_fraction(bytes / seconds / 1e9, 2, text) : "–");
}
