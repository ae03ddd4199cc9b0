"""Where a comparison is known to differ, and why: rows of a file `pattern TAB what TAB reason`, # for comments.

The pattern is a glob of a path (* crosses folders), `what` the name of the comparison.  A row whose pattern was met but that was
never needed is a fault as well: what once was an exception must not hide a later one."""
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
        """Why `what` may differ for `path`, or None; notes whether the row was needed."""
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
