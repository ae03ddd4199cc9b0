/* secret.c - see secret.h.
 *
 *     url      the text after "://", up to a space, a quote or a closing bracket
 *     secret   the value of "...token=", "--password" and the like, the word after "Bearer", tokens with the prefix of a well-known
 *              service, JSON web tokens, PEM blocks, UUIDs, and text that looks random (secret_random.c)
 *     email    name@domain.tld
 *     address  IPv4, IPv6 and MAC addresses, "ip-10-0-0-1"
 *     host     domain names, recognised by their last label
 *
 * Names of kernels, operators and C++ templates must stay unchanged. So if the standard syntax of addresses and hosts would also match
 * such names, the rules here are narrower. Four numbers with dots are an address unless "v" or "version" precedes them. "module.io" and
 * "self.net" are Python code, so a name that ends like these is a host only if it contains two dots and a hyphen. Every rule reads a
 * bounded number of bytes. */
#include "secret.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "secret_random.h"

enum { LONGEST_LOCAL = 64, LONGEST_HOST = 253, LONGEST_KEY = 64 };

static bool is_alnum(char c) { return ascii_digit(c) || ascii_letter(c); }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool in_key(char c) { return is_alnum(c) || c == '_' || c == '-'; }
static bool in_host(char c) { return is_alnum(c) || c == '-' || c == '.'; }
static bool is_in(char c, const char *set) { return c && strchr(set, c); }
static bool in_local(char c) { return is_alnum(c) || is_in(c, "._%+-"); }

/* True if the n bytes at p equal `word`, ignoring case. `word` must be in lower case. */
static bool reads(const char *p, const char *word, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != word[i] && !(ascii_letter(p[i]) && (p[i] | 32) == word[i])) return false;
  return true;
}

static size_t run_of(const char *p, const char *end, size_t most, bool (*in)(char c)) {
  size_t n = 0;
  while (p + n < end && n < most && in(p[n])) n++;
  return n;
}

/* Returns the length of the value after a separator: up to a space, a quote, or one of the `stops`. */
static size_t value_at(const char *p, const char *end, const char *stops) {
  size_t n = 0;
  while (p + n < end && !is_blank(p[n]) && !is_in(p[n], "\"'`<>") && !is_in(p[n], stops)) n++;
  while (n > 0 && p[n - 1] == '.') n--;
  return n;
}

static size_t url_at(const char *start, const char *p, const char *end) {
  if (p - start < 4 || memcmp(p - 3, "://", 3) != 0 || !is_alnum(p[-4])) return 0;
  return value_at(p, end, ")]},;|");
}

/* ---- values after a key ---- */

static bool ends_with(const char *p, size_t n, const char *word) {
  const size_t length = strlen(word);
  return n >= length && reads(p + n - length, word, length);
}

static bool is_secret_key(const char *key, size_t n, bool *number) {
  static const char *const WORDS[] = {
      "token", "secret", "auth", "authorization", "credential", "credentials", "signature", "cookie", "apikey", "api_key", "api-key",
      "access_key", "access-key", "accesskey", "secret_key", "secret-key", "private_key", "private-key", "key_id", "session_id",
      "sessionid"};
  static const char *const PASSWORDS[] = {"password", "passwd", "passphrase", "pwd"};
  *number = true;
  for (size_t i = 0; i < sizeof PASSWORDS / sizeof *PASSWORDS; i++)
    if (ends_with(key, n, PASSWORDS[i])) return true;
  *number = false; /* "num_token=5" is a number, not a secret */
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (ends_with(key, n, WORDS[i])) return true;
  return false;
}

static bool is_plain_value(const char *p, size_t n) {
  static const char *const WORDS[] = {"true", "false", "none", "null", "bearer", "basic", "nullptr"};
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (strlen(WORDS[i]) == n && reads(p, WORDS[i], n)) return true;
  return false;
}

/* Finds the key before p, written as "key=", "key: ", "\"key\": \"" or "--key ". Returns its length; 0 if there is none. */
static size_t key_before(const char *start, const char *p, const char **key) {
  const char *q = p;
  if (q > start && (q[-1] == '"' || q[-1] == '\'')) q--;
  while (q > start && p - q < 4 && is_blank(q[-1])) q--;
  const bool blank = q < p, sign = q > start && (q[-1] == '=' || (q[-1] == ':' && (q - 1 == start || q[-2] != ':')));
  if (!sign && !blank) return 0;
  q -= sign;
  while (sign && q > start && (is_blank(q[-1]) || q[-1] == '"' || q[-1] == '\'') && p - q < 8) q--;
  const char *from = q;
  while (from > start && q - from < LONGEST_KEY && in_key(from[-1])) from--;
  *key = from;
  return sign || (q - from > 2 && memcmp(from, "--", 2) == 0) ? (size_t)(q - from) : 0;
}

/* True if p follows "Bearer ", or "Authorization: Basic ". */
static bool follows_scheme(const char *start, const char *p) {
  if (p - start >= 7 && reads(p - 7, "bearer ", 7)) return p - 7 == start || !is_alnum(p[-8]);
  return p - start >= 21 && reads(p - 6, "basic ", 6) && reads(p - 21, "authorization: ", 15);
}

static size_t announced_at(const char *start, const char *p, const char *end) {
  const char *key;
  bool number;
  if (p == start || !is_in(p[-1], "= \t:\"'")) return 0;
  const bool scheme = follows_scheme(start, p);
  const size_t length = scheme ? 0 : key_before(start, p, &key);
  if (!scheme && !(length && is_secret_key(key, length, &number))) return 0;
  const size_t n = value_at(p, end, ",;&)]}");
  if (scheme) return n >= 6 ? n : 0;
  return !is_plain_value(p, n) && (number || run_of(p, end, n, ascii_digit) < n) ? n : 0;
}

/* ---- tokens that are recognised by form ---- */

struct prefix {
  const char *text;
  size_t least; /* minimum number of bytes after the prefix */
};

/* True if the text can be the random part of a token, because it has digits, or letters of both cases. */
static bool is_mixed(const char *p, size_t n) {
  bool upper = false, lower = false, digit = false;
  for (size_t i = 0; i < n; i++) {
    digit = digit || ascii_digit(p[i]);
    upper = upper || (p[i] >= 'A' && p[i] <= 'Z');
    lower = lower || (p[i] >= 'a' && p[i] <= 'z');
  }
  return digit || (upper && lower);
}

static bool in_token(char c) { return in_key(c) || c == '.'; }

static size_t token_at(const char *p, const char *end) {
  static const struct prefix PREFIXES[] = {
      {"ghp_", 20}, {"gho_", 20}, {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20}, {"github_pat_", 20}, {"glpat-", 16}, {"hf_", 20},
      {"sk-", 20}, {"sk_live_", 16}, {"sk_test_", 16}, {"rk_live_", 16}, {"xoxb-", 10}, {"xoxp-", 10}, {"xoxa-", 10}, {"xoxr-", 10},
      {"xoxs-", 10}, {"xapp-", 10}, {"AKIA", 16}, {"ASIA", 16}, {"AIza", 30}, {"ya29.", 16}, {"npm_", 20}, {"pypi-", 20},
      {"dop_v1_", 20}, {"dckr_pat_", 16}, {"SG.", 20}, {"hvs.", 16}, {"nvapi-", 20}, {"gsk_", 20}, {"glsa_", 20}, {"eyJ", 17}};
  for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++) {
    const size_t head = strlen(PREFIXES[i].text);
    if ((size_t)(end - p) < head || memcmp(p, PREFIXES[i].text, head) != 0) continue;
    const size_t n = run_of(p, end, 4096, in_token);
    if (n < head + PREFIXES[i].least) continue;
    /* the words of a name such as "hf_attention_forward_impl" have letters of one case only */
    const size_t body = run_of(p + head, end, n - head, is_alnum);
    if (is_mixed(p + head, n - head) && (body >= 10 || is_in(p[head - 1], "-.") || *p == 'e')) return n;
  }
  return 0;
}

static size_t uuid_at(const char *p, const char *end) {
  static const uint8_t GROUPS[] = {8, 4, 4, 4, 12};
  const char *q = p;
  for (size_t i = 0; i < sizeof GROUPS; i++) {
    if (i && (q == end || *q++ != '-')) return 0;
    if (run_of(q, end, 16, ascii_hex) != GROUPS[i]) return 0;
    q += GROUPS[i];
  }
  return q == end || !is_alnum(*q) ? (size_t)(q - p) : 0;
}

/* Returns the length of a PEM block, up to its end or the end of the text; 0 = none. */
static size_t pem_at(const char *p, const char *end) {
  if (end - p < 11 || memcmp(p, "-----BEGIN ", 11) != 0) return 0;
  const char *last = memmem(p, (size_t)(end - p), "-----END ", 9);
  const char *dashes = last ? memmem(last + 9, (size_t)(end - last - 9), "-----", 5) : NULL;
  return (size_t)((dashes ? dashes + 5 : end) - p);
}

/* ---- addresses ---- */

/* Returns the length of four numbers below 256 with `dot` between them; 0 = none. */
static size_t quad_at(const char *p, const char *end, char dot) {
  const char *q = p;
  for (int i = 0; i < 4; i++) {
    unsigned value = 0;
    if (i && (q == end || *q++ != dot)) return 0;
    const size_t n = run_of(q, end, 4, ascii_digit);
    for (size_t d = 0; d < n; d++) value = value * 10 + (unsigned)(q[d] - '0');
    if (n == 0 || n > 3 || value > 255) return 0;
    q += n;
  }
  return (size_t)(q - p);
}

static bool is_version(const char *start, const char *p) {
  return p - start >= 8 && reads(p - 8, "version", 7) && !is_alnum(p[-1]);
}

static size_t ipv4_at(const char *start, const char *p, const char *end) {
  const size_t n = quad_at(p, end, '.');
  const char *q = p + n;
  if (!n || (p > start && p[-1] == '.') || is_version(start, p)) return 0;
  if (q < end && (is_alnum(*q) || *q == '_' || (*q == '.' && q + 1 < end && is_alnum(q[1])))) return 0;
  return n;
}

static bool in_ipv6(char c) { return ascii_hex(c) || c == ':'; }

/* True if an IPv6 address with "::" can begin with the number at p, which has `first` digits: it must have a prefix in use (2, 3, fc,
 * fd or fe80), because names such as "c10::add" have the syntax of addresses. */
static bool begins_as_ipv6(const char *p, size_t first) {
  if (first != 4) return false;
  return *p == '2' || *p == '3' || reads(p, "fc", 2) || reads(p, "fd", 2) || reads(p, "fe80", 4);
}

static size_t ipv6_at(const char *p, const char *end) {
  size_t n = run_of(p, end, 48, in_ipv6), group = 0, colons = 0, twice = 0, pairs = 0;
  const size_t first = run_of(p, end, 5, ascii_hex);
  while (n > 0 && p[n - 1] == ':' && (n < 2 || p[n - 2] != ':')) n--;
  if (p + n < end && (is_alnum(p[n]) || p[n] == '_')) return 0;
  for (size_t i = 0; i < n; i++) {
    const bool colon = p[i] == ':';
    twice += colon && i && p[i - 1] == ':';
    pairs += colon ? group == 2 : i + 1 == n && group == 1;
    group = colon ? 0 : group + 1;
    colons += colon;
    if (group > 4) return 0;
  }
  if (twice == 0 && pairs == 6 && colons == 5) return n; /* six pairs and five colons: a MAC address */
  if (twice == 0) return colons == 7 ? n : 0;
  return twice == 1 && colons <= 7 && begins_as_ipv6(p, first) && n > first + 1 ? n : 0;
}

/* ---- domain names ---- */

static bool is_word(const char *p, size_t n, const char *list) {
  char word[32] = " ";
  if (n == 0 || n > sizeof word - 3) return false;
  for (size_t i = 0; i < n; i++) word[1 + i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] | 32) : p[i];
  word[1 + n] = ' ';
  return strstr(list, word) != NULL;
}

/* True if the n bytes at p, which have the form "label.label.last", are a domain name, judging by the last label. */
static bool is_domain(const char *p, size_t n) {
  static const char SURE[] = " com org edu gov mil internal lan intranet localdomain ";
  static const char LIKELY[] = " net io ai dev cloud local corp app sh us uk eu de fr ch nl ca jp cn kr in au example test invalid ";
  size_t last = n, dots = 0, hyphens = 0;
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '.' && (i == 0 || i + 1 == n || p[i - 1] == '.')) return false;
    dots += p[i] == '.';
    hyphens += p[i] == '-';
  }
  while (last > 0 && p[last - 1] != '.') last--;
  if (!dots) return false;
  if (is_word(p + last, n - last, SURE)) return true;
  return is_word(p + last, n - last, LIKELY) && ((dots >= 2 && hyphens) || reads(p, "www.", 4));
}

static size_t domain_at(const char *start, const char *p, const char *end) {
  size_t n = run_of(p, end, LONGEST_HOST, in_host);
  if (p > start && (in_host(p[-1]) || p[-1] == '_')) return 0;
  while (n > 0 && (p[n - 1] == '.' || p[n - 1] == '-')) n--;
  if (p + n < end && (p[n] == '_' || p[n] == '(')) return 0;
  if (n > 10 && reads(p, "ip-", 3) && quad_at(p + 3, end, '-')) return n;
  return is_domain(p, n) ? n : 0;
}

/* ---- e-mail ---- */

static size_t email_at(const char *start, const char *p, const char *end) {
  const size_t local = run_of(p, end, LONGEST_LOCAL, in_local);
  const char *domain = p + local + 1;
  if ((p > start && in_local(p[-1])) || !local || domain >= end || domain[-1] != '@') return 0;
  size_t n = run_of(domain, end, LONGEST_HOST, in_host), last = 0;
  while (n > 0 && (domain[n - 1] == '.' || domain[n - 1] == '-')) n--;
  while (last < n && ascii_letter(domain[n - 1 - last])) last++;
  if (last < 2 || last > 12 || last + 2 > n || domain[n - 1 - last] != '.' || (domain + n < end && domain[n] == '_')) return 0;
  return local + 1 + n;
}

struct secret secret_at(const char *start, const char *p, const char *end) {
  size_t n;
  if (p > start && (is_alnum(p[-1]) || (unsigned char)p[-1] >= 0x80)) return (struct secret){0};
  if ((n = url_at(start, p, end))) return (struct secret){n, "url"};
  if ((n = announced_at(start, p, end))) return (struct secret){n, "secret"};
  if ((n = pem_at(p, end)) || (n = secret_random_at(start, p, end))) return (struct secret){n, "secret"};
  if (!is_alnum(*p)) return (struct secret){0};
  if ((n = token_at(p, end)) || (n = uuid_at(p, end))) return (struct secret){n, "secret"};
  if ((n = email_at(start, p, end))) return (struct secret){n, "email"};
  if ((n = ipv4_at(start, p, end)) || (n = ipv6_at(p, end))) return (struct secret){n, "address"};
  if ((n = domain_at(start, p, end))) return (struct secret){n, "host"};
  return (struct secret){0};
}
