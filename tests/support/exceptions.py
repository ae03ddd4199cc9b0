"""Known differences of a comparison, with reasons: rows of a file `pattern TAB what TAB reason`, # for comments.

The pattern is a glob for a path (* matches slashes), `what` the name of the comparison. A row whose pattern matched but that
was never needed is a fault as well, so that a former exception cannot hide a later bug."""
import fnmatch


class Exceptions:
    def __init__(self, path):
        with open(path, encoding='utf-8') as f:
            lines = [line.rstrip('\n') for line in f]
        self.rows = [line.split('\t') for line in lines if line and not line.startswith('#')]
        for row in self.rows:
            if len(row) != 3 or not all(row):
                raise SystemExit(f'{path}: not three columns: {row}')
        self.met, self.used = set(), set()

    def reason(self, path, what, differs):
        """Returns the reason why `what` may differ for `path`, or None; marks the row as needed."""
        for i, (pattern, name, reason) in enumerate(self.rows):
            if name == what and fnmatch.fnmatchcase(path, pattern):
                self.met.add(i)
                if differs:
                    self.used.add(i)
                return reason
        return None

    def needless(self):
        return [' '.join(self.rows[i][:2]) for i in sorted(self.met - self.used)]

    def needed(self):
        return [self.rows[i] for i in sorted(self.used)]
