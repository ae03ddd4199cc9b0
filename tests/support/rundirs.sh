# rundirs.sh - sourced by tests: run directories as profilers write them, made from the fixtures, in the current folder.

# <logdir>/[step_N/]plugins/profile/<run>/: the files that JAX writes for one host, with perfetto_trace.json.gz if requested.
jax_run() { # FOLDER RUN
  local run=$1/plugins/profile/$2
  mkdir -p "$run"
  cp "$FIXTURES"/json/jax/pi0_sessions/{perfetto_trace,vm.trace}.json.gz "$FIXTURES/xplane/multihost/host-0.xplane.pb" "$run"
  mv "$run/host-0.xplane.pb" "$run/vm.xplane.pb"
}

jax_hosts() { # FOLDER RUN
  mkdir -p "$1/plugins/profile/$2"
  cp "$FIXTURES"/xplane/multihost/* "$1/plugins/profile/$2"
}

# Two ranks with two sessions each.
torch_handler() { # FOLDER [plain]
  mkdir -p "$1"
  cp "$FIXTURES"/json/torch/ddp2_handler/* "$1"
  if [ "${2:-}" = plain ]; then gzip -d "$1"/*.gz; fi
}
