package io.espalier.server.config;

import io.espalier.core.api.ConfigChange;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.RefusedException.Reason;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.server.config.yaml.YamlText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes settings and any number of jobs at once in the text of the configuration, as {@link
 * JobEditor} changes one job: all or nothing, with a version of each job in the history. Jobs that
 * are equal but for their version and times stay as they are.
 *
 * <p>Thread-safe; waits for the disk or the network.
 */
public final class ConfigEditor {
  private static final Logger LOG = LoggerFactory.getLogger("io.espalier.changes");
  private static final List<String> STAMPS = List.of("version_id", "create_time", "modify_time");

  private final JobEditor jobs;

  /**
   * @param jobs edits single jobs of the same source
   */
  public ConfigEditor(JobEditor jobs) {
    this.jobs = jobs;
  }

  /**
   * A changed configuration that is not written.
   *
   * @param text the text that was changed
   * @param members top-level members that differ; empty values are removed
   * @param config the configuration that results; null: it has errors
   * @param problems of the result, as far as the change is concerned
   */
  public record Edited(
      Text text,
      Map<String, Optional<Json>> members,
      @Nullable Config config,
      List<Problem> problems) {}

  /**
   * Changes the current text, without writing it. Works for any source.
   *
   * @throws RefusedException when the configuration cannot be read
   */
  public Edited edit(ConfigChange change) {
    try {
      Text text = jobs.source().fetch();
      Result<Json.Obj> document = jobs.loader().document(text);
      Json.Obj now = document.value();
      if (now == null) {
        return new Edited(text, Map.of(), null, document.problems());
      }
      Map<String, Optional<Json>> members = different(now, change);
      Result<Config> result = jobs.loader().loadWith(text, members);
      Config config = result.value();
      return new Edited(
          text,
          members,
          config,
          config == null
              ? result.problems()
              : problems(config, jobs.loader().load(text).value(), members));
    } catch (Unavailable e) {
      throw JobEditor.refused(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(Reason.UNAVAILABLE, "interrupted");
    }
  }

  private static Map<String, Optional<Json>> different(Json.Obj now, ConfigChange change) {
    Map<String, Optional<Json>> members = new LinkedHashMap<>();
    change
        .members()
        .members()
        .forEach(
            (key, member) -> {
              Json old = now.get(key);
              if (key.startsWith(Config.JOB_KEY) && member instanceof Json.Null) {
                if (old != null) {
                  members.put(key, Optional.empty());
                }
              } else if (key.startsWith(Config.JOB_KEY)
                  && member instanceof Json.Obj job
                  && old instanceof Json.Obj was) {
                if (!unstamped(job).equals(unstamped(was))) {
                  members.put(key, Optional.of(stampedLike(job, was)));
                }
              } else if (key.startsWith("bistro_") && !member.equals(old)) {
                members.put(key, Optional.of(member));
              }
            });
    if (change.prune()) {
      now.members().keySet().stream()
          .filter(key -> key.startsWith(Config.JOB_KEY))
          .filter(key -> change.members().get(key) == null)
          .forEach(key -> members.put(key, Optional.empty()));
    }
    return members;
  }

  /** Returns a job without what saving it writes. */
  public static Json.Obj unstamped(Json.Obj job) {
    Json.Obj without = job;
    for (String stamp : STAMPS) {
      without = without.without(stamp);
    }
    return without;
  }

  /** Returns a job with the version and the times of another; it keeps its own position. */
  private static Json.Obj stampedLike(Json.Obj job, Json.Obj was) {
    Json.Obj stamped = unstamped(job);
    for (String stamp : STAMPS) {
      Json value = was.get(stamp);
      stamped = value == null ? stamped : stamped.with(stamp, value);
    }
    return stamped;
  }

  /** Returns the problems of the settings and of changed jobs, and new ones of other jobs. */
  private static List<Problem> problems(
      Config config, @Nullable Config before, Map<String, Optional<Json>> members) {
    List<Problem> problems = new ArrayList<>(config.warnings());
    for (Job job : config.jobs().values()) {
      Job was = before == null ? null : before.job(job.name());
      Set<Problem> known =
          was == null || members.containsKey(Config.JOB_KEY + job.name())
              ? Set.of()
              : new HashSet<>(was.problems());
      job.problems().stream().filter(problem -> !known.contains(problem)).forEach(problems::add);
    }
    for (String key : members.keySet()) {
      String name = key.startsWith(Config.JOB_KEY) ? key.substring(Config.JOB_KEY.length()) : "";
      boolean isAdded = members.getOrDefault(key, Optional.empty()).isPresent();
      if (!name.isEmpty() && isAdded && config.job(name) == null) {
        problems.add(Problem.error(key, "this is not the name of a job"));
      }
    }
    return problems;
  }

  /**
   * Writes a changed configuration.
   *
   * @param edited without errors
   * @return the versions of the jobs that were saved or deleted; null when the text is no longer
   *     the one that was changed, and nothing is written
   * @throws RefusedException when it cannot be written
   */
  public @Nullable List<JobVersion> write(Edited edited, String author, String reason) {
    WritableConfigSource target = jobs.writable();
    try {
      jobs.changing().lockInterruptibly();
      try {
        return changed(target, edited, author, reason);
      } finally {
        jobs.changing().unlock();
      }
    } catch (Unavailable e) {
      throw JobEditor.refused(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(Reason.UNAVAILABLE, "interrupted");
    }
  }

  private @Nullable List<JobVersion> changed(
      WritableConfigSource target, Edited edited, String author, String reason)
      throws Unavailable, InterruptedException {
    Text text = edited.text();
    Config before = jobs.loader().inspect(text).value();
    Config config = edited.config();
    if (before == null || config == null) {
      throw new RefusedException(Reason.CONFLICT, "the configuration has errors");
    }
    refuseFull(before, config);
    Map<String, Optional<Json>> members = new LinkedHashMap<>(edited.members());
    Map<String, Json> asWritten = ConfigEdits.members(text);
    Map<String, List<JobVersion>> histories = target.histories(jobsOf(edited.members()));
    List<JobVersion> written = new ArrayList<>();
    List<JobVersion> replaced = new ArrayList<>();
    for (Map.Entry<String, Optional<Json>> member : edited.members().entrySet()) {
      if (!member.getKey().startsWith(Config.JOB_KEY)) {
        refuseYaml(target, text, member.getKey());
        continue;
      }
      String name = member.getKey().substring(Config.JOB_KEY.length());
      jobs.refuseYaml(target, text, name);
      List<JobVersion> history = histories.getOrDefault(name, List.of());
      JobVersion next =
          JobEditor.stamped(
              history,
              before.job(name),
              name,
              member.getValue().orElse(null) instanceof Json.Obj job ? job : null,
              author,
              reason,
              0,
              jobs.clock().millis());
      Optional.ofNullable(JobEditor.written(history, asWritten.get(member.getKey()), next))
          .ifPresent(replaced::add);
      members.put(member.getKey(), Optional.ofNullable(next.job()));
      written.add(next);
    }
    SortedMap<String, Optional<byte[]>> documents = ConfigEdits.edited(target, text, members);
    if (jobs.loader().load(ConfigEdits.with(text, documents)).value() == null) {
      throw new RefusedException(
          Reason.CONFLICT, "the documents of the configuration would not be readable");
    }
    if (!target.write(text, documents)) {
      return null;
    }
    LOG.info(
        "applied: {} jobs saved or deleted{}",
        written.size(),
        members.containsKey(Config.SETTINGS_KEY) ? ", settings replaced" : "");
    replaced.addAll(written);
    if (!replaced.isEmpty()) {
      target.remember(replaced);
    }
    return written;
  }

  private static List<String> jobsOf(Map<String, Optional<Json>> members) {
    return members.keySet().stream()
        .filter(key -> key.startsWith(Config.JOB_KEY))
        .map(key -> key.substring(Config.JOB_KEY.length()))
        .toList();
  }

  /** Refuses the last of the new jobs if it is not taken beside the others. */
  private void refuseFull(Config before, Config config) {
    SortedMap<String, Job> others = new TreeMap<>(config.jobs());
    others.keySet().removeAll(before.jobs().keySet());
    if (others.isEmpty()) {
      return;
    }
    String last = others.lastKey();
    others = new TreeMap<>(config.jobs());
    others.remove(last);
    String full = jobs.refusal(config.withJobs(others));
    if (full != null) {
      throw new RefusedException(Reason.FULL, "job " + last + " is not taken: " + full);
    }
  }

  /** Refuses to write settings beside those that stand in YAML. */
  private static void refuseYaml(WritableConfigSource target, Text text, String key) {
    if (text.documents().stream().anyMatch(YamlText::isYaml)
        && ConfigEdits.object(ConfigEdits.holding(target, text, key)).get(key) == null) {
      throw new RefusedException(
          Reason.UNSUPPORTED, "the settings are written in YAML, which is only read: edit them");
    }
  }
}
