package io.espalier.e2e.drill;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** What is run in a drill: the tree, its limits, and the program of every task. */
final class DrillJob {
  static final int LIMIT_PER_HOST = 2;

  static final int DATA_HOSTS = 6;
  private static final int NODES_PER_HOST = 7;

  /** Less than a tenth, which the change guard would hold back. */
  private static final int MOST_MISSING = 4;

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

  /**
   * @param nodes path of the file of {@link #nodes}
   */
  static String settings(Path nodes) {
    return """
    {
      "bistro_settings": {
        "enabled": true,
        "nodes": {
          "levels": ["host", "db"],
          "node_sources": [
            {"source": "range_label", "prefs": {
              "parent_level": "instance", "start": 0, "end": LAST, "format": "h{i}"}},
            {"source": "file", "prefs": {"parent_level": "host", "path": "NODES", "refresh_sec": 1}}
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
        .replace("LAST", Integer.toString(DATA_HOSTS - 1))
        .replace("NODES", nodes.toString())
        .replace("LIMIT", Integer.toString(LIMIT_PER_HOST));
  }

  /** Returns the nodes as a file in CSV. */
  static String nodes() {
    StringBuilder lines = new StringBuilder("name,parent\n");
    for (int h = 0; h < DATA_HOSTS; h++) {
      for (int n = 0; n < NODES_PER_HOST; n++) {
        lines.append("h%d.%d,h%d%n".formatted(h, n, h));
      }
    }
    return lines.toString();
  }

  /**
   * Returns nodes that are wrong: none, no list at all, or a few too few, which the change guard
   * lets pass.
   */
  static String wrongNodes(int seed) {
    List<String> lines = new ArrayList<>(nodes().lines().toList());
    switch (seed % 4) {
      case 0 -> lines.subList(1, lines.size()).clear();
      case 1 -> lines.replaceAll(line -> "<p>" + line + "</p>");
      default -> {
        Random random = new Random(seed);
        for (int i = 0; i < MOST_MISSING; i++) {
          lines.remove(1 + random.nextInt(lines.size() - 1));
        }
      }
    }
    return String.join("\n", lines) + "\n";
  }
}
