/* tty.c - see tty.h. Names in a trace may contain anything, including sequences that control a terminal or change the
 * direction of text. Such characters are always shown as escapes, on a terminal or not, so that tests see the same output as
 * users. */
#include "tty.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- text ---- */

/* Decodes the UTF-8 sequence at s into *code. Returns the length of the sequence; 0 if it is invalid. */
static size_t utf8(const unsigned char *s, size_t n, uint32_t *code) {
  static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
  size_t len = s[0] < 0x80                   ? 1
               : s[0] >= 0xf0 && s[0] < 0xf8 ? 4
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xc0 && s[0] < 0xe0 ? 2
                                             : 0;
  if (len == 0 || len > n) return 0;
  *code = len == 1 ? s[0] : s[0] & (0xff >> (len + 1));
  for (size_t i = 1; i < len; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    *code = *code << 6 | (s[i] & 0x3f);
  }
  if (*code < least[len] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return 0;
  return len;
}

/* True for characters that a terminal obeys: controls, marks and overrides of direction, line separators, invisible tags. */
static bool obeyed(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

size_t tty_plain_length(const char *text, size_t n) {
  size_t i = 0;
  while (i < n && text[i] >= ' ' && text[i] <= '~') i++;
  return i;
}

void tty_text(FILE *to, const char *text, size_t n) {
  const unsigned char *s = (const unsigned char *)text;
  while (n > 0) {
    const size_t plain = tty_plain_length((const char *)s, n);
    fwrite(s, 1, plain, to);
    s += plain;
    n -= plain;
    if (n == 0) return;
    uint32_t code = 0;
    size_t len = utf8(s, n, &code);
    if (len == 0) fprintf(to, "\\x%02x", s[0]);
    else if (!obeyed(code)) fwrite(s, 1, len, to);
    else fprintf(to, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    s += len ? len : 1;
    n -= len ? len : 1;
  }
}

void tty_string(FILE *to, const char *text) { tty_text(to, text, strlen(text)); }

void tty_list(FILE *to, const char *const *texts, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i) fputs(", ", to);
    tty_string(to, texts[i]);
  }
}

const char *tty_count(uint64_t n, char *text) {
  char digits[24];
  int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
  char *out = text;
  for (int i = 0; i < len; i++) {
    if (i > 0 && (len - i) % 3 == 0) *out++ = ',';
    *out++ = digits[i];
  }
  *out = 0;
  return text;
}

const char *tty_counted(uint64_t n, const char *what, char *text) {
  tty_count(n, text);
  const size_t len = strlen(text);
  snprintf(text + len, 64 - len, " %s%s", what, n == 1 ? "" : "s");
  return text;
}

/* Formats a number. snprintf() writes the decimal point of the locale, which may have several bytes, so everything between the
 * digits is replaced by a point. */
const char *tty_fraction(double value, int decimals, char *text) {
  bool fits = fabs(value) < 1e18;
  char number[64];
  int n = snprintf(number, sizeof number, fits ? "%.*f" : "%.*e", fits ? decimals : 0, value);
  size_t whole = strspn(number, "-0123456789");
  if (decimals == 0 || !fits) {
    snprintf(text, 32, "%.31s", number);
    return text;
  }
  memcpy(text, number, whole);
  text[whole] = '.';
  memcpy(text + whole + 1, number + n - decimals, (size_t)decimals + 1);
  return text;
}

static void say(enum tty_style style, const char *fmt, va_list ap) {
  char line[2048];
  vsnprintf(line, sizeof line, fmt, ap);
  fflush(stdout);
  fprintf(stderr, "%stracekit:%s ", tty_style(stderr, style), tty_style(stderr, TTY_PLAIN));
  tty_string(stderr, line);
  fputc('\n', stderr);
}

void tty_say(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say(TTY_BOLD, fmt, ap);
  va_end(ap);
}

void tty_warn(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say(TTY_DOUBT, fmt, ap);
  va_end(ap);
}

void tty_fail(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say(TTY_BAD, fmt, ap);
  va_end(ap);
}

static bool coloured(FILE *to) {
  const char *no = getenv("NO_COLOR");
  const char *term = getenv("TERM");
  return !(no && *no) && term && strcmp(term, "dumb") && isatty(fileno(to));
}

const char *tty_style(FILE *to, enum tty_style style) {
  static const char *const styles[] = { "\033[0m", "\033[1m", "\033[32m", "\033[33m", "\033[31m" };
  return coloured(to) ? styles[style] : "";
}

bool tty_has_blocks(void) {
  static const char *const VARIABLES[] = { "LC_ALL", "LC_CTYPE", "LANG" };
  const char *value = NULL;
  for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES && !(value && *value); i++) value = getenv(VARIABLES[i]);
  return value && (strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8") || strstr(value, "utf-8"));
}

size_t tty_width(FILE *to) {
  const char *columns = getenv("COLUMNS");
  long n = columns ? strtol(columns, NULL, 10) : 0;
  if (n > 0) return (size_t)n;
#ifdef TIOCGWINSZ /* WASI does not know the size of a terminal */
  struct winsize size;
  if (isatty(fileno(to)) && ioctl(fileno(to), TIOCGWINSZ, &size) == 0) return size.ws_col;
#endif
  (void)to;
  return 0;
}

size_t tty_page_width(FILE *to) {
  enum { PAGE = 160 };
  const size_t width = tty_width(to);
  return width ? width : PAGE;
}

bool tty_reader_is_gone(void) {
  struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT }; /* WASI needs an event */
  return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}

/* Number of streams that are open. A text may be made while another one is. */
static _Thread_local unsigned open_texts;

FILE *tty_open_text(char **text, size_t *n) {
  if (!open_texts) errno = 0;
  FILE *to = open_memstream(text, n);
  open_texts += to != NULL;
  return to;
}

bool tty_close_text(FILE *to, char **text) {
  const bool failed = ferror(to) || errno == ENOMEM;
  open_texts--;
  if (fclose(to) == 0 && !failed && *text) return true;
  free(*text);
  *text = NULL;
  return false;
}
