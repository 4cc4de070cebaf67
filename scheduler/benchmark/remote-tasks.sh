#!/bin/sh
# P6 in docs/benchmarks.md: remote tasks through Thrift; what RemoteBenchmark says. Needs a built distribution (./mvnw -DskipTests package).
# Usage: scheduler/benchmark/remote-tasks.sh [TASKS [ROUNDS [SIMULATED_WORKERS]]]
set -eu
home=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd -P)
class_path=$home/scheduler/benchmark/target/classes
for jar in "$home"/scheduler/cli/target/dist/lib/*.jar; do
  class_path=$class_path:$jar
done
exec java -Xmx2g -cp "$class_path" io.espalier.benchmark.RemoteBenchmark "$@"
