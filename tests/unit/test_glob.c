/* test_glob.c - globs that match whole texts, and their cost on hostile text. */
#include <fnmatch.h>
#include <time.h>

#include "base/glob.h"
#include "help.h"

static void known(void **state) {
  static const struct {
    const char *glob, *text;
    bool is;
  } t[] = {{"", "", true},
           {"", "a", false},
           {"*", "", true},
           {"**", "ab", true},
           {"a*c", "abbc", true},
           {"a*c", "abbcd", false},
           {"*b*", "abc", true},
           {"?", "\xc3\xa9", true}, /* one character, two bytes */
           {"??", "\xc3\xa9", false},
           {"?", "\xff", true},
           {"[\xc3\xa0-\xc3\xbf]x", "\xc3\xa9x", true},
           {"[abc]", "b", true},
           {"[!abc]", "s", true},
           {"[^abc]", "b", false},
           {"[]a]", "]", true},
           {"[a-]", "-", true},
           {"[[:digit:]x]*", "7 of 9", true},
           {"[[:upper:]]", "q", false},
           {"x[", "x[", true},
           {"at::native[*", "at::native[0]", true},
           {"\\*", "*", true},
           {"\\*", "a", false},
           {"\\", "\\", true},
           {"a/*", "a/.b/c", true}};
  (void)state;
  for (size_t i = 0; i < LENGTH(t); i++)
    if (glob_matches(t[i].glob, t[i].text) != t[i].is) fail_msg("'%s' and '%s'", t[i].glob, t[i].text);
}

/* Short globs of letters, stars and question marks behave as in fnmatch(3); bracket sets differ between libraries. */
static void as_fnmatch(void **state) {
  static const char globs[] = "ab*?", texts[] = "ab";
  uint32_t seed = 1, matched = 0;
  (void)state;
  for (int i = 0; i < 300000; i++) {
    char glob[8] = "", text[8] = "";
    for (unsigned k = 0, n = (seed = seed * 1664525 + 1013904223) >> 29; k < n; k++)
      glob[k] = globs[((seed = seed * 1664525 + 1013904223) >> 16) % (sizeof globs - 1)];
    for (unsigned k = 0, n = (seed = seed * 1664525 + 1013904223) >> 30; k < n; k++)
      text[k] = texts[((seed = seed * 1664525 + 1013904223) >> 16) % (sizeof texts - 1)];
    bool want = fnmatch(glob, text, 0) == 0;
    matched += want;
    if (glob_matches(glob, text) != want) fail_msg("'%s' and '%s'", glob, text);
  }
  assert_true(matched > 1000);
}

/* A glob with many stars takes little time; fnmatch(3) would take minutes. */
static void many_stars(void **state) {
  char text[20001];
  (void)state;
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = 0;
  clock_t start = clock();
  assert_false(glob_matches("*a*a*a*a*a*a*a*a*b", text));
  assert_true(clock() - start < CLOCKS_PER_SEC);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known), cmocka_unit_test(as_fnmatch), cmocka_unit_test(many_stars)};
  return cmocka_run_group_tests_name("glob", tests, NULL, NULL);
}
