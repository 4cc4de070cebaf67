package io.espalier.server.config;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs what a new configuration changes: one line for each job, or just their number when there are
 * very many.
 */
final class ConfigChanges {
  /** The maximum number of job lines, so that the log contains other things too. */
  static final int MOST_LINES = 100;

  private final Logger log;
  private int jobs;

  private ConfigChanges(Logger log) {
    this.log = log;
  }

  static void log(Logger log, @Nullable Config before, Config after) {
    ConfigChanges changes = new ConfigChanges(log);
    SortedMap<String, Job> old = before == null ? new TreeMap<>() : before.jobs();
    for (Map.Entry<String, Job> entry : after.jobs().entrySet()) {
      Job was = old.get(entry.getKey());
      Job is = entry.getValue();
      if (before == null) {
        changes.first(is);
      } else if (was == null) {
        changes.job("added", is);
      } else if (!BistroJobWriter.toJson(was, before.settings())
          .equals(BistroJobWriter.toJson(is, after.settings()))) {
        changes.job("changed", is);
      }
    }
    for (String name : old.keySet()) {
      if (!after.jobs().containsKey(name) && changes.isShown()) {
        log.info("Job {} removed", quoted(name));
      }
    }
    if (changes.jobs > MOST_LINES) {
      log.info("And {} more jobs like these", changes.jobs - MOST_LINES);
    }
  }

  private boolean isShown() {
    return ++jobs <= MOST_LINES;
  }

  /** Logs a job of the first configuration; its problems are reported by the starting code. */
  private void first(Job job) {
    if (isShown()) {
      log.info("Job {} added{}", quoted(job.name()), job.canRun() ? "" : ", it cannot run");
    }
  }

  private void job(String what, Job job) {
    if (!isShown()) {
      return;
    }
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

  /**
   * Quotes the name of a job; the name of a broken job may contain anything, line ends included.
   */
  private static String quoted(String name) {
    return Json.of(name).toString();
  }
}
