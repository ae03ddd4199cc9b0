# Decompression bombs stop with a one-line error, and leave no file.
python3 - <<'PY'
import gzip, io, tarfile, zipfile, zlib
head, zeros = b'{"traceEvents":[', b' ' * (1 << 20)
with zipfile.ZipFile('bomb.zip', 'w', zipfile.ZIP_DEFLATED) as z, z.open('trace.json', 'w', force_zip64=True) as f:
    f.write(head)
    for _ in range(1100):
        f.write(zeros)
with gzip.open('bomb.json.gz', 'wb', compresslevel=1) as f:
    f.write(head)
    for _ in range(1024):
        f.write(zeros)
class Zeros(io.RawIOBase):
    def __init__(self, n): self.left, self.head = n, head
    def readable(self): return True
    def readinto(self, b):
        n = min(len(b), self.left)
        b[:n] = self.head.ljust(n)[:n]
        self.head, self.left = b'', self.left - n
        return n
with tarfile.open('bomb.tar.gz', 'w:gz', compresslevel=1) as t:
    info = tarfile.TarInfo('trace.json'); info.size = 1 << 30
    t.addfile(info, io.BufferedReader(Zeros(1 << 30)))
PY
for f in bomb.zip bomb.json.gz bomb.tar.gz; do
  tracekit convert --max-size 10M $f -o out.json; echo "status $?"
done
tracekit convert bomb.zip -o out.json; echo "status $?"
cp "$FIXTURES/json/torch/ddp2_plain/rank0.json.gz" .
python3 -m zipfile -c rank0.zip rank0.json.gz
tracekit convert --max-memory 300K rank0.zip -o out.json; echo "status $?"
tracekit extract --max-memory 300K rank0.zip -o out.json; echo "status $?"
ls
