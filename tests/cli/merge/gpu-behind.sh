trace() { # RANK US: eight launches, with kernels US later
  local comma=
  echo "{\"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": $1}, \"traceEvents\": ["
  for i in 1 2 3 4 5 6 7 8; do
    echo "$comma{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": $((i * 100)), \"dur\": 5,"
    echo "\"args\": {\"correlation\": $i}},"
    echo "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"pid\": 0, \"tid\": 7, \"ts\": $((i * 100 + $2)), \"dur\": 50,"
    echo "\"args\": {\"correlation\": $i}}"
    comma=,
  done
  echo ']}'
}
trace 0 8 > rank0.json
trace 1 -35 > rank1.json
tracekit merge rank0.json rank1.json -n -o merged.json > report.txt
