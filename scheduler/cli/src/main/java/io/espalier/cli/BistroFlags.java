package io.espalier.cli;

import java.util.List;
import java.util.Map;

/** Says what flags of Bistro's programs are called here (docs/migration.md#flags). */
final class BistroFlags {
  private static final Map<String, String> OURS =
      Map.ofEntries(
          Map.entry("config_file", "--config FILE"),
          Map.entry("config_update_ms", "nothing: a file is read again when it changes"),
          Map.entry("nodes_update_ms", "--nodes-update-ms MS"),
          Map.entry("nodes_retry_ms", "--nodes-retry-ms MS"),
          Map.entry("clean_statuses", "--status-store memory"),
          Map.entry("status_table", "nothing: statuses are kept under --data-dir"),
          Map.entry("dry_run", "--runner dry-run"),
          Map.entry("benchmark_run", "--runner simulated"),
          Map.entry("worker_command", "--worker-command PATH"),
          Map.entry("data_dir", "--data-dir DIR"),
          Map.entry("instance_node_name", "--instance-node-name NAME"),
          Map.entry("server_port", "--thrift HOST:PORT"),
          Map.entry("http_server_port", "--http HOST:PORT"),
          Map.entry("http_server_address", "--http HOST:PORT"),
          Map.entry("test_task_duration", "--test-task-duration MS"),
          Map.entry("test_failure_rate", "--test-failure-rate SHARE"),
          Map.entry("heartbeat_grace_period", "--unhealthy-ms MS"),
          Map.entry("heartbeat_period_sec", "--heartbeat-ms MS, of the scheduler"),
          Map.entry("healthcheck_period", "--health-check-ms MS"),
          Map.entry("healthcheck_grace_period", "--health-check-timeout-ms MS"),
          Map.entry("lose_unhealthy_worker_after", "--lease-ms MS"),
          Map.entry("CAUTION_startup_wait_for_workers", "--takeover-ms MS"),
          Map.entry("CAUTION_worker_suicide_task_kill_wait_ms", "--kill-wait-ms MS"),
          Map.entry("scheduler_host", "--scheduler HOST:PORT"),
          Map.entry("scheduler_port", "--scheduler HOST:PORT"),
          Map.entry("shard_id", "--shard-id NAME"),
          Map.entry("nvidia_smi", "--nvidia-smi PATH"),
          Map.entry("log_retention", "--log-retention-days DAYS"));

  private BistroFlags() {}

  /** Returns a line about each flag of Bistro among the arguments; empty if there is none. */
  static String hint(List<String> arguments) {
    StringBuilder lines = new StringBuilder();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      String flag = equals < 0 ? argument : argument.substring(0, equals);
      String name = flag.replaceFirst("^--?(no)?", "");
      String ours = flag.startsWith("-") ? OURS.get(name) : null;
      if (ours != null) {
        lines
            .append(lines.isEmpty() ? "" : System.lineSeparator())
            .append("In place of Bistro's ")
            .append(flag)
            .append(" there is here: ")
            .append(ours);
      }
    }
    return lines.toString();
  }
}
