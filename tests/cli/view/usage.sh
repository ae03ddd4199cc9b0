trace=$FIXTURES/json/viz/viz_small.json
for args in '--with speedscope' '--ui nowhere' '--ui /dev/null' '--with report --ui .' '--hard' '--port 0' '--port 65536' '--with netscape' '--name' '-e dur>'; do
  tracekit view "$trace" --no-browser $args
  echo "status $?"
done
