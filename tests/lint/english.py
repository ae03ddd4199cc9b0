#!/usr/bin/env python3
"""Counts turns of phrase that make prose read as translated (CONTRIBUTING.md, "English"): in comments, in texts for users
(messages, help) and in the documentation. Fails if their share exceeds a limit. A low count is necessary but not sufficient for
good prose.

  comments  begin with the thing or the action, never with What, Who, Of, Those or That; no clause such as "what is written" as
            a subject
  prose     no "say" or "tell" for everything, no "of which" or "as of", no "stand", "lie" or "bear" for "is"

english.py --list [N] prints N examples of each."""
import glob
import re
import sys

from common import comments, files, read

COMMENT_TURNS = {
    'begins with What, Who, Of, Those, That': r'^(?:What|Who|Whoever|Whatever|Whose|Of|Those|That)\b(?!.*\?)',
    'clause as a noun': r'(?:^|[.:;,(] )(?:[Ww]hat|[Ww]ho|[Ww]hoever) (?:is|are|was|were|has|have|does|do|can|cannot|may|must|it|they|the|comes?|goes)\b',
    'those that': r'\b(?:[Tt]hose|[Tt]hese) that\b|\b[Tt]h(?:at|ose) of\b',
    'how manieth': r'\bhow manieth\b',
}
PROSE_TURNS = {
    'say, tell': r'\b(?:says?|said|tells?|told)\b',
    'clause as a noun': r'(?:^|[.:;,(] )[Ww]hat (?:is|was|are|were|has|have|can|cannot|comes?|goes|went|stands?|took|did)\b(?!.*\?)',
    'of which, as of': r'\b(?:as of|of what|of which|of whom|of its own|of their own)\b',
    'stand, lie, bear': r'\b(?:stands?|bears?|beside|likewise|thereof)\b',
}
COMMENTS_PER_1000_WORDS, PROSE_PERCENT, SECTION = 0.5, 5.0, re.compile(r'^-+ .* -+$')


def text_of(comment):
    return re.sub(r'\s+', ' ', re.sub(r'\n\s*\*', '\n', comment.strip('/* \n'))).strip()


def sentences(text):
    text = re.sub(r'```.*?```', '', text, flags=re.S)
    parts = re.split(r'(?<=[.:;?!])\s+|\s{3,}|\||\n\n', text)
    return [s for s in (re.sub(r'\s+', ' ', part).strip() for part in parts) if len(s.split()) >= 4]


def hits(turns, texts):
    return {name: [text for text in texts if re.search(turn, text)] for name, turn in turns.items()}


def show(found, examples):
    for name, texts in found.items():
        for text in texts[:examples]:
            print(f'    {name}: {text[:150]}')


def main():
    examples = int((sys.argv[2:] or ['5'])[0]) if sys.argv[1:2] == ['--list'] else 0
    faults = []
    found = [text_of(c) for folder in ('lib', 'cli', 'tests') for path in files(folder)
             for _, _, c in comments(read(path))]
    found = [text for text in found if len(text.split()) >= 3 and not SECTION.match(text)]
    words = sum(len(text.split()) for text in found)
    turns = hits(COMMENT_TURNS, found)
    rate = 1000 * sum(map(len, turns.values())) / max(1, words)
    if examples:
        print(f'comments: {rate:.2f} turns per 1,000 words, {words:,} words')
    show(turns, examples)
    if rate > COMMENTS_PER_1000_WORDS:
        faults.append(f'comments: {rate:.2f} turns per 1,000 words (at most {COMMENTS_PER_1000_WORDS})')
    for what, paths in (('messages and help', ['tests/words/messages.txt', 'tests/words/help.txt']),
                        ('documentation', glob.glob('*.md') + glob.glob('docs/**/*.md', recursive=True))):
        prose = [s for path in paths for s in sentences(read(path))]
        turns = hits(PROSE_TURNS, prose)
        share = 100 * len({text for texts in turns.values() for text in texts}) / max(1, len(prose))
        if examples:
            print(f'{what}: {share:.1f} % of {len(prose):,} sentences')
        show(turns, examples)
        if share > PROSE_PERCENT or not prose:
            faults.append(f'{what}: {share:.1f} % of the sentences (at most {PROSE_PERCENT:.0f} %)')
    for fault in faults:
        print(fault)
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
