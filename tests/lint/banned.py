"""Finds banned calls, streams and format strings in the library, and file creation outside lib/io/out.c. Ignores comments, and
strings except format strings. The last banned calls are those that macOS lacks."""
import glob
import re
import sys

CALLS = '''atoi atol atof strtod strtof strtold sprintf vsprintf strcpy strtok gets exit _exit abort assert printf vprintf puts putchar
perror setlocale alloca
localeconv nl_langinfo newlocale uselocale strcoll strxfrm strfmon strftime strcasecmp strncasecmp strcasestr
isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower toupper
wctype towlower towupper mbstowcs wcstombs mbtowc mbrtowc wcrtomb wcstod wprintf swprintf
memrchr rawmemchr strchrnul mempcpy'''.split()
CALL = re.compile(r'(?<![\w>.])(?:%s)\s*\(' % '|'.join(CALLS))
STREAM = re.compile(r'\b(?:stdout|stderr)\b')
HEADER = re.compile(r'^[ \t]*#[ \t]*include[ \t]*<(?:ctype|wctype|locale)\.h>', re.M)
# Only lib/io/out.c may create files: it derives the permissions of a file from those of its inputs. os.c creates temporary ones.
CREATES = re.compile(r'\b(?:creat|truncate)\s*\(|\bO_CREAT\b|\bf(?:re)?open\s*\([^;]*"[wa][a-z+]*"')
CREATORS = ('lib/io/out.c', 'lib/base/os.c')
# Besides printf and similar functions, functions with a parameter of this name take a format string.
DECLARED = re.compile(r'\b(\w+)\s*\([^()]*\bconst char \*fmt\b')
NUMBER = re.compile(r'%(?:%|[-+ #0\'I]*(?:\*|\d+)?(?:\.(?:\*|\d*))?(?:hh|h|ll|l|L|q|j|z|t)?([A-Za-z\[]))')
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

# Self-test: lines that must be found, and lines that must not.
FOUND = ['x = strtod(p, 0);', 'if (isdigit(*p)) n++;', '#include <locale.h>', 'snprintf(t, n, "%d" "%-8.3f", i, v);', 'fputs(t, stderr);',
         'err_set(e, c, a ? "(%.1f us" : "%s", v);', 'snprintf(t, n, "%.*Lg", 3, v); /* %d */', "if (c == '\"') sscanf(p, \"%lf\", &v);"]
PASSED = ['/* strtod(p, 0) */', 'const char *s = "isdigit(c)";', 'snprintf(t, n, "100%% full: %s", s);', 'static const char *k[] = {"%all-f"};',
          'num_isdigit(c);', 'in->exit(1);', "c = '\"'; snprintf(t, n, \"%d\", i); /* %f */"]


def blank(text):
    return re.sub(r'[^\n]', ' ', text)


def without(text, kinds):
    return TOKEN.sub(lambda m: blank(m.group(0)) if m.group(0)[0] in kinds else m.group(0), text)


def call_end(code, start):
    """Returns the offset after the call whose parenthesis opens at `start`. In `code`, strings and characters are blanked."""
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] == '(') - (code[i] == ')')
        if depth == 0:
            return i
    return len(code)


def formats(code, text, printers):
    """Yields the offset of each floating-point conversion in the strings of a call; `text` still contains the strings."""
    for call in re.finditer(r'\b(?:\w*(?:printf|scanf)%s)\s*\(' % ''.join(f'|{name}' for name in sorted(printers)), code):
        start = call.end() - 1
        for string in re.finditer(r'"(?:\\.|[^"\\\n])*"', text[start:call_end(code, start)]):
            for m in NUMBER.finditer(string.group(0)):
                if m.group(1) and m.group(1) in 'aAeEfFgG':
                    yield start + string.start() + m.start()


def findings(source, printers):
    code, text = without(source, '/"\''), without(source, '/')
    yield from (m.start() for pattern in (CALL, STREAM, HEADER) for m in pattern.finditer(code))
    yield from formats(code, text, printers)


def creations(path, source):
    text = without(source, '/')
    return () if path in CREATORS else (m.start() for m in CREATES.finditer(text))


def main(paths):
    sources = {p: open(p, encoding='utf-8').read() for p in paths}
    printers = {m.group(1) for s in sources.values() for m in DECLARED.finditer(without(s, '/"\''))}
    failed = False
    for example in FOUND + PASSED:
        if bool(list(findings(example, {'err_set'}))) != (example in FOUND):
            sys.exit(f'banned.py: wrong about: {example}')
    for example in ('f = fopen(path, "we");', 'open(p, O_WRONLY | O_CREAT, 0666)'):
        if not list(creations('', example)) or list(creations('', 'f = fopen(path, "re");')):
            sys.exit(f'banned.py: wrong about: {example}')
    for path, source in sources.items():
        lines = source.split('\n')
        found = [*(findings(source, printers) if path.startswith('lib') or len(sys.argv) > 1 else ()), *creations(path, source)]
        for number in sorted({source.count('\n', 0, at) for at in found}):
            print(f'{path}:{number + 1}:{lines[number]}')
            failed = True
    return failed


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:] or sorted(glob.glob('lib/**/*.[ch]', recursive=True) + glob.glob('cli/**/*.[ch]', recursive=True))))
