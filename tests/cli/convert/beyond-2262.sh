# Times that exceed Perfetto's 64-bit nanoseconds are an error, and are not shifted into the range; JSON can represent them.
base64 -d > far.xplane.pb <<'END'
Cr0BCAESDS9kZXZpY2U6R1BVOjAaJwgBEgF0GP//////////fyIWCAEQ//////////9/GP//////////Y29weSoNLAESCQgBEgVmbG9wcyoQCAISDAgCEghncm91cF9p5CoQCAMSDAgDEghuYW1lX3JlZiIFaG9zdDE=
END
tracekit convert -q far.xplane.pb -o far.pftrace 2>&1; echo "exit $?"
ls far.pftrace 2>/dev/null
tracekit convert -q far.xplane.pb -o far.json; echo "exit $?"
