package io.espalier.server.config;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobExport;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Logs what a new configuration changes, one line for each job. */
final class ConfigChanges {
  private ConfigChanges() {}

  static void log(Logger log, @Nullable Config before, Config after) {
    SortedMap<String, Job> old = before == null ? new TreeMap<>() : before.jobs();
    for (Map.Entry<String, Job> entry : after.jobs().entrySet()) {
      Job was = old.get(entry.getKey());
      Job is = entry.getValue();
      if (before == null) {
        // Its problems are told by whoever starts.
        log.info("Job {} added{}", quoted(is.name()), is.canRun() ? "" : ", it cannot run");
      } else if (was == null) {
        logJob(log, "added", is);
      } else if (!JobExport.toJson(was, before.settings())
          .equals(JobExport.toJson(is, after.settings()))) {
        logJob(log, "changed", is);
      }
    }
    for (String name : old.keySet()) {
      if (!after.jobs().containsKey(name)) {
        log.info("Job {} removed", quoted(name));
      }
    }
  }

  private static void logJob(Logger log, String what, Job job) {
    String name = quoted(job.name());
    if (job.isValid()) {
      log.info("Job {} {}{}", name, what, job.enabled() ? "" : ", it is disabled");
    } else {
      log.warn("Job {} {}, it cannot run because of its errors:", name, what);
    }
    for (Problem problem : job.problems()) {
      log.warn("  {}", problem);
    }
  }

  /** The name of a broken job may hold anything, line ends included. */
  private static String quoted(String name) {
    return Json.of(name).toString();
  }
}
