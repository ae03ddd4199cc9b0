trace() { # RANK US: eight copies to the host and waits for them; the GPU activity is US later
  local comma=
  echo "{\"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": $1}, \"traceEvents\": ["
  for i in 1 2 3 4 5 6 7 8; do
    echo "$comma{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaMemcpyAsync\", \"pid\": 1, \"tid\": 1, \"ts\": $((i * 100)), \"dur\": 5,"
    echo "\"args\": {\"correlation\": $i}},"
    echo "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaStreamSynchronize\", \"pid\": 1, \"tid\": 1, \"ts\": $((i * 100 + 6)),"
    echo "\"dur\": 34, \"args\": {\"correlation\": $((i + 50))}},"
    echo "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH (Device -> Pageable)\", \"pid\": 0, \"tid\": 7,"
    echo "\"ts\": $((i * 100 + 10 + $2)), \"dur\": 26, \"args\": {\"correlation\": $i}}"
    comma=,
  done
  echo ']}'
}
trace 0 0 > rank0.json
trace 1 35 > rank1.json
tracekit merge rank0.json rank1.json -n -o merged.json > report.txt
