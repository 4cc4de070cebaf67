package io.espalier.e2e.drill;

import java.nio.file.Path;

/** What is run in a drill: the tree, its limits, and the program of every task. */
final class DrillJob {
  static final int LIMIT_PER_HOST = 2;

  static final int DATA_HOSTS = 6;
  private static final int NODES_PER_HOST = 7;

  /** How many tasks a job has. */
  static final int TASKS = DATA_HOSTS * NODES_PER_HOST;

  // A third of the tasks ignore SIGTERM, another third has a child that left its process group and
  // session. The lock is inherited by all of them: it is free when the last of them is dead.
  private static final String TASK =
      """
      #!/usr/bin/perl
      # Writes S at its start, A every 50 ms while anything of it lives, E at its end.
      use strict; use warnings;
      use Fcntl qw(:DEFAULT :flock); use Time::HiRes; use IO::Handle; use POSIX ();
      my ($node, $status) = @ARGV;
      my $token = $ENV{ESPALIER_TASK_TOKEN};
      my $job = $ENV{ESPALIER_TASK_JOB};
      my $worker = $ENV{DRILL_WORKER};
      sub note {
        my ($kind, $durable) = @_;
        open(my $out, '>>', "SITE/work-$job") or die $!;
        syswrite($out, sprintf("%s %s %s %s %d\\n", $kind, $token, $node, $worker, Time::HiRes::time() * 1000));
        $out->sync() if $durable;
        close($out);
      }
      sub live { my ($turns) = @_; for (1 .. $turns) { Time::HiRes::sleep(0.05); note('A', 0); } }
      sysopen(my $lock, "SITE/lock-$job-$node", O_RDWR | O_CREAT) or die $!;
      note('V', 1) unless flock($lock, LOCK_EX | LOCK_NB);
      note('S', 1);
      my $sum = 0; $sum = ($sum * 31 + ord($_)) % 65521 for split(//, "$job $node");
      $SIG{TERM} = 'IGNORE' if $sum % 3 == 0;
      my $child = 0;
      if ($sum % 3 == 1) {
        pipe(my $in, my $out);
        if (!fork()) {
          POSIX::setsid();
          my $pid = fork();
          if ($pid) { syswrite($out, "$pid\\n"); POSIX::_exit(0); }
          close(STDOUT); close(STDERR);
          $SIG{TERM} = 'IGNORE';
          live(600); POSIX::_exit(0);
        }
        $child = <$in>; wait();
      }
      live(TURNS);
      kill('KILL', $child) if $child;
      note('E', 1);
      open(my $out, '>', $status) or die $!; print $out "done\\n"; close($out);
      """;

  private DrillJob() {}

  /** Most take up to two seconds, some longer than a lease. */
  static final String SHORT_AND_LONG = "4 + $sum % 41 + ($sum % 7 ? 0 : 60)";

  /** All take longer than a lease. */
  static final String LONG = "100";

  /**
   * @param turns a Perl expression: for how many times 50 ms it lives
   */
  static String task(Path site, String turns) {
    return TASK.replace("SITE", site.toString()).replace("TURNS", turns);
  }

  /**
   * @param nodes a regular expression
   */
  static String job(String name, Path task, String nodes) {
    return """
    {"bistro_job->JOB": {
      "owner": "drill", "command": ["TASK"],
      "task_subprocess": {"pass_environment": ["DRILL_WORKER"]},
      "filters": {"db": {"whitelist_regex": "NODES"}}
    }}
    """
        .replace("JOB", name)
        .replace("TASK", task.toString())
        .replace("NODES", nodes.replace("\\", "\\\\"));
  }

  static String settings() {
    StringBuilder children = new StringBuilder();
    for (int h = 0; h < DATA_HOSTS; h++) {
      StringBuilder names = new StringBuilder();
      for (int n = 0; n < NODES_PER_HOST; n++) {
        names.append(n == 0 ? "" : ", ").append("\"h").append(h).append(".").append(n).append('"');
      }
      children.append(h == 0 ? "" : ", ").append("\"h" + h + "\": {\"children\": [" + names + "]}");
    }
    return """
    {
      "bistro_settings": {
        "enabled": true,
        "nodes": {
          "levels": ["host", "db"],
          "node_sources": [
            {"source": "manual", "prefs": {HOSTS}}
          ]
        },
        "resources": {
          "host": {"host_slots": {"default": 1, "limit": LIMIT}},
          "worker": {"worker_slots": {"default": 1, "limit": 5}}
        },
        "backoff": [1, "repeat"],
        "kill_subprocess": {"method": "term_wait_kill", "kill_wait_ms": 300}
      }
    }
    """
        .replace("HOSTS", children)
        .replace("LIMIT", Integer.toString(LIMIT_PER_HOST));
  }
}
