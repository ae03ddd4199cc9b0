#!/usr/bin/env python3
"""Lists every sentence that a user can see, by file and line, for `make messages`, so that people can review them. With
--check, reports rule violations that a program can detect: a full stop at the end, a capital at the start that is not a name,
double spaces, contractions, words that CONTRIBUTING replaces by others, and, in the library, names of command options."""
import os
import re
import sys

SAYS = ('err_set|err_for|err_at|err_sys|err_prefix|err_append|tty_say|tty_warn|tty_fail|run_usage|trace_note|trace_notes|trace_say_of|note_choice|add_note|fail|helper_fail|'
        'complain|refuse|wrong|in_note|note_repair|note_once|reader_note|repair|pb_note|xplane_note|perfetto_note|chrome_note|err_here')
# Sentences that are built before they are printed. They have at least four words, unlike names and formats of numbers.
BUILT = re.compile(r'\b(?:snprintf\s*\(|return (?=")|why = |(?:static )?const char \w+\[\] = )')
CALL = re.compile(r'\b(?:' + SAYS + r')\s*\(')
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
NAMES = ('Chrome', 'Perfetto', 'XPlane', 'JSON', 'UTF', 'Say', 'SQL', 'Python', 'TensorBoard', 'HTML', 'XML', 'SQLite', 'CSV', 'XLA')
FAULTS = [
    (re.compile(r'[^.]\.$'), 'ends with a full stop'),
    (re.compile(r"\b(?:can't|couldn't|don't|doesn't|isn't|won't)\b"), 'has a short form'),
    (re.compile(r'\S  \S'), 'has two blanks'),
    (re.compile(r'\b(?:please|sorry|oops)\b', re.I), 'has a word that says nothing'),
    (re.compile(r'\b(?:slice|node|timeline event)s?\b'), "has another word for span or event"),
]


def arguments(source, at):
    """Returns the text inside the parentheses of a call."""
    depth, i, quoted = 0, at, False
    while i < len(source):
        c = source[i]
        if c == '\\' and quoted:
            i += 1
        elif c == '"':
            quoted = not quoted
        elif not quoted and c == '(':
            depth += 1
        elif not quoted and c == ')':
            depth -= 1
            if depth == 0:
                return source[at:i]
        i += 1
    return ''


LITERALS = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')


def literals(source, at, inside):
    """Yields (line number, text) of each string; adjacent string literals are joined."""
    for group in LITERALS.finditer(inside):
        yield source.count('\n', 0, at + group.start()) + 1, ''.join(TEXT.findall(group.group()))


def is_sentence(text):
    """True for four words and more, but not for tables of words, markup and SQL."""
    return 4 <= len(re.findall(r'(?:^|[ (])[a-z]{2,}(?=[ ,;:)]|$)', text)) <= 25 and not re.search(r'[<{]|\b(?:SELECT|CREATE|FROM)\b', text)


def messages(path):
    with open(path, encoding='utf-8') as f:
        source = f.read()
    found, built = {}, set()
    for call in CALL.finditer(source):
        for line, text in literals(source, call.start(), arguments(source, call.end() - 1)):
            if re.search(r'[a-z]{3}', text) and ' ' in text:
                found[line, text] = call.start()
    for call in BUILT.finditer(source):
        at = call.end() - 1
        inside = arguments(source, at) if source[at] == '(' else source[at:source.find(';', at)]
        for line, text in literals(source, call.start(), inside):
            if is_sentence(text) and (line, text) not in found:
                found[line, text] = call.start()
                built.add((line, text))
    for line, text in sorted(found, key=found.get):
        yield line, text, (line, text) in built


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    faults = 0
    for top in ('lib', 'cli'):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(n for n in names if n.endswith('.c')):
                path = os.path.join(folder, name)
                for line, text, is_built in messages(path):
                    where = f'{os.path.relpath(path, root)}:{line}'
                    if '--check' not in sys.argv:
                        print(f'{where}: {text}')
                        continue
                    if is_built or text.startswith('SQL'):
                        continue  # parts of sentences, and names that belong to the engine
                    said = [what for fault, what in FAULTS if fault.search(text)]
                    if re.match(r'[A-Z][a-z]', text) and not text.startswith(NAMES):
                        said.append('begins with a capital')
                    if top == 'lib' and re.search(r'(?:^|[ (])(?:--[a-z]|-[a-z]\b)', text):
                        said.append('names an option of the command: an error says it by enum tk_option, and the command adds the words')
                    for what in said:
                        faults += 1
                        print(f'{where}: {what}: {text}')
    return 1 if faults else 0


sys.exit(main())
