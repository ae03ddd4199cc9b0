# Every long option of every command is in its help, its man page and the three completions.
tracekit __docs bash > c.bash; tracekit __docs zsh > c.zsh; tracekit __docs fish > c.fish
tracekit __docs markdown > all.md
for c in $(tracekit __docs commands); do
  tracekit help $c > help; tracekit __docs man $c > man; tracekit __docs markdown $c | cat - all.md > page.md
  for o in $(grep -oE "^  (-., |    )--[][a-z-]+" help | sed -E "s/.*--(\[no-\])?//" | grep -v "^help$"); do
    grep -qE "^\.It .*Fl -(\[no-\])?$o" man || echo "man: $c --$o"
    grep -qE -- "--$o\b" c.bash || echo "bash: $c --$o"
    grep -qF -- "--$o" c.zsh || echo "zsh: $c --$o"
    grep -qF -- "seen_subcommand_from $c' -l $o" c.fish || echo "fish: $c --$o"
    grep -qE -- "--(\[no-\])?$o" page.md || echo "markdown: $c --$o"
  done
done
bash -n c.bash && echo done
