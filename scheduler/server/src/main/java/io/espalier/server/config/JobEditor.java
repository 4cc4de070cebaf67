package io.espalier.server.config;

import io.espalier.core.api.JobValidation;
import io.espalier.core.api.JobVersions;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.RefusedException.Reason;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.config.source.ConfigSource;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Text;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.config.source.JobVersion;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.config.write.BistroJobWriter;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.server.config.yaml.YamlText;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves and deletes jobs in the text of the configuration (docs/design/bistro.md#reloading). It
 * never touches the configuration in force: the poller notices an edit like any other, so there is
 * one history. It checks the whole new configuration before it writes anything, and refuses jobs
 * with errors.
 *
 * <p>Thread-safe; waits for the disk.
 */
public final class JobEditor {
  private static final Logger LOG = LoggerFactory.getLogger("io.espalier.changes");
  private static final String AS_WRITTEN = "as it was written in the configuration";
  private static final int TRIES = 200;
  private static final int PAUSE_MILLIS = 10;

  private final ConfigSource source;
  private final ConfigLoader loader;
  private final InstantSource clock;
  private final Function<Config, @Nullable String> refusal;
  private final Lock changing = new ReentrantLock();

  public JobEditor(ConfigSource source, ConfigParser parser, InstantSource clock) {
    this(source, parser, clock, config -> null);
  }

  /**
   * @param refusal why no new job is taken now, beside the jobs of a configuration; null: it is
   */
  public JobEditor(
      ConfigSource source,
      ConfigParser parser,
      InstantSource clock,
      Function<Config, @Nullable String> refusal) {
    this.refusal = refusal;
    this.source = source;
    this.loader = new ConfigLoader(parser);
    this.clock = clock;
  }

  ConfigSource source() {
    return source;
  }

  ConfigLoader loader() {
    return loader;
  }

  InstantSource clock() {
    return clock;
  }

  /**
   * Returns what a change locks from reading the history until its own versions are in the history.
   * Otherwise a change after a deletion that is not in the history yet would get the same number.
   */
  Lock changing() {
    return changing;
  }

  /** Returns why no new job is taken now, beside the jobs of a configuration; null: it is. */
  @Nullable String refusal(Config config) {
    return refusal.apply(config);
  }

  /**
   * Saves a new or an existing job. {@code version_id} becomes the next number, {@code create_time}
   * stays, {@code modify_time} is now; the values of these three in the given object are ignored.
   *
   * @param expectedVersion the current {@code version_id} of the job, 0: there must be no such job;
   *     or another value of {@link JobVersions}
   * @return the saved version
   * @throws RefusedException when the version differs, the job has errors, a new job exceeds the
   *     capacity, or the configuration cannot be written
   */
  public JobVersion save(
      String name, Json.Obj job, long expectedVersion, String author, String reason) {
    return change(name, job, expectedVersion, author, reason, 0);
  }

  /**
   * Deletes a job.
   *
   * @throws RefusedException also when there is no such job
   */
  public JobVersion delete(String name, long expectedVersion, String author, String reason) {
    return change(name, null, expectedVersion, author, reason, 0);
  }

  /**
   * Returns the saved versions of a job, oldest first.
   *
   * @throws RefusedException when they cannot be read
   */
  public List<JobVersion> history(String name) {
    try {
      return ordered(writable().history(name));
    } catch (Unavailable e) {
      throw refused(e);
    }
  }

  /**
   * Two writers at once may append their versions in the other order. The later one, which finds a
   * job without a history, then takes the version of the first for written by hand: what the first
   * has appended itself says more.
   */
  private static List<JobVersion> ordered(List<JobVersion> appended) {
    Map<Long, JobVersion> versions = new TreeMap<>();
    for (JobVersion version : appended) {
      versions.merge(
          version.version(),
          version,
          (first, second) -> first.reason().equals(AS_WRITTEN) ? second : first);
    }
    return List.copyOf(versions.values());
  }

  /**
   * Saves an earlier version of a job as the next version.
   *
   * @throws RefusedException also when that version is not known, or was a deletion
   */
  public JobVersion rollBack(String name, long version, String author, String reason) {
    for (JobVersion old : history(name)) {
      if (old.version() == version && old.job() != null) {
        String why = reason.isEmpty() ? "back to version " + version : reason;
        return change(name, old.job(), JobVersions.ANY, author, why, createTime(old.job()));
      }
    }
    throw new RefusedException(
        Reason.UNKNOWN, "there is no version " + version + " of job " + name + " to go back to");
  }

  /**
   * Returns the creation time, which stays the same for a job that is restored after its deletion,
   * so that it keeps its statuses.
   */
  private static long createTime(Json.Obj job) {
    return job.get("create_time") instanceof Json.Num time ? time.value().longValue() : 0;
  }

  WritableConfigSource writable() {
    if (source instanceof WritableConfigSource writable) {
      return writable;
    }
    throw new RefusedException(
        Reason.UNSUPPORTED,
        "the configuration is only read from "
            + source.name()
            + ": change it where it is published");
  }

  /**
   * @param createTime of a job that no longer exists; 0: now
   */
  private JobVersion change(
      String name,
      Json.@Nullable Obj job,
      long expectedVersion,
      String author,
      String reason,
      long createTime) {
    WritableConfigSource target = writable();
    try {
      for (int i = 0; i < TRIES; i++) {
        JobVersion next = changed(target, name, job, expectedVersion, author, reason, createTime);
        if (next != null) {
          return next;
        }
        // Another writer was faster: read again.
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
      throw new RefusedException(
          Reason.UNAVAILABLE, "the configuration changes faster than it can be written");
    } catch (Unavailable e) {
      throw refused(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(Reason.UNAVAILABLE, "interrupted");
    }
  }

  /** Returns null, and writes nothing, when another writer was faster. */
  private @Nullable JobVersion changed(
      WritableConfigSource target,
      String name,
      Json.@Nullable Obj job,
      long expectedVersion,
      String author,
      String reason,
      long createTime)
      throws Unavailable, InterruptedException {
    changing.lockInterruptibly();
    try {
      Text text = target.fetch();
      refuseYaml(target, text, name);
      List<JobVersion> history = target.history(name);
      JobVersion next =
          next(target, text, history, name, job, expectedVersion, author, reason, createTime);
      Json found = ConfigEdits.members(text).get(Config.JOB_KEY + name);
      JobVersion before = written(history, found, next);
      if (!target.write(text, edited(target, text, next))) {
        return null;
      }
      LOG.info("job {} version {}: {}", name, next.version(), job == null ? "deleted" : "saved");
      target.remember(before == null ? List.of(next) : List.of(before, next));
      return next;
    } finally {
      changing.unlock();
    }
  }

  private JobVersion next(
      WritableConfigSource target,
      Text text,
      List<JobVersion> history,
      String name,
      Json.@Nullable Obj job,
      long expectedVersion,
      String author,
      String reason,
      long createTime) {
    Config config = loader.inspect(text).value();
    if (config == null) {
      throw new RefusedException(
          Reason.CONFLICT, "the configuration has errors; mend them before saving jobs");
    }
    Job old = config.job(name);
    if (old == null && job == null) {
      throw new RefusedException(Reason.UNKNOWN, "there is no job " + name);
    }
    long version = old == null ? 0 : Math.max(0, old.versionId());
    if (!isExpected(expectedVersion, old != null, version)) {
      throw new RefusedException(
          Reason.STALE,
          "job "
              + name
              + (old == null ? " does not exist" : " has version " + version)
              + (expectedVersion < 0 ? "" : ", not version " + expectedVersion));
    }
    String full = old == null ? refusal.apply(config) : null;
    if (full != null) {
      throw new RefusedException(Reason.FULL, "job " + name + " is not taken: " + full);
    }
    JobVersion next = stamped(history, old, name, job, author, reason, createTime, clock.millis());
    check(target, text, next);
    return next;
  }

  /**
   * Returns the next version of a job.
   *
   * @param old what it is now; null: there is none
   * @param job null: it is deleted
   * @param createTime of a job that no longer exists; 0: now
   */
  static JobVersion stamped(
      List<JobVersion> history,
      @Nullable Job old,
      String name,
      Json.@Nullable Obj job,
      String author,
      String reason,
      long createTime,
      long now) {
    long version = old == null ? 0 : Math.max(0, old.versionId());
    for (JobVersion known : history) {
      version = Math.max(version, known.version());
    }
    Json.@Nullable Obj saved = null;
    if (job != null) {
      long created = old == null ? createTime : old.createTime();
      created = created == 0 ? now / 1000 : created;
      saved =
          job.with("version_id", Json.of(version + 1))
              .with("create_time", Json.of(created))
              .with("modify_time", Json.of(now / 1000));
    }
    return new JobVersion(name, version + 1, now, author, reason, saved);
  }

  /** Refuses to edit YAML: what people wrote there, templates and comments, would be lost. */
  void refuseYaml(WritableConfigSource target, Text text, String name) {
    if (text.documents().stream().noneMatch(YamlText::isYaml)) {
      return;
    }
    Document document = document(target, text, name);
    if (ConfigEdits.object(document).get(Config.JOB_KEY + name) != null) {
      return;
    }
    Config config = loader.inspect(text).value();
    Job job = config == null ? null : config.job(name);
    if (job != null) {
      throw new RefusedException(
          Reason.UNSUPPORTED,
          "job " + name + " is written in YAML, which is only read: edit " + job.original().at());
    }
    if (YamlText.isYaml(document)) {
      throw new RefusedException(
          Reason.UNSUPPORTED,
          document.name()
              + " is YAML, which is only read: add job "
              + name
              + " to it by hand, or configure its directory, in which new jobs get files of their"
              + " own");
    }
  }

  /**
   * Returns what somebody has written into the configuration before the first saved version, which
   * replaces it; null when the job is new or has versions.
   */
  static @Nullable JobVersion written(
      List<JobVersion> history, @Nullable Json before, JobVersion next) {
    return before instanceof Json.Obj job && history.isEmpty()
        ? new JobVersion(next.name(), next.version() - 1, next.atMillis(), "", AS_WRITTEN, job)
        : null;
  }

  private static boolean isExpected(long expected, boolean exists, long version) {
    if (expected == JobVersions.NEW || expected == JobVersions.EXISTING) {
      return exists == (expected == JobVersions.EXISTING);
    }
    return expected == JobVersions.ANY || expected == version;
  }

  /**
   * Reports what saving the job would report, without writing. Works for any source.
   *
   * @throws RefusedException when the configuration cannot be read
   */
  public JobValidation check(String name, Json.Obj job) {
    Result<Config> result;
    try {
      result = loader.inspectWith(source.fetch(), Config.JOB_KEY + name, job);
    } catch (Unavailable e) {
      throw refused(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RefusedException(Reason.UNAVAILABLE, "interrupted");
    }
    Config config = result.value();
    List<Problem> problems = new ArrayList<>();
    if (config == null) {
      result.problems().stream().filter(Problem::isError).forEach(problems::add);
      return new JobValidation(problems, null);
    }
    // Errors of the settings prevent saving any job; their warnings do not.
    config.warnings().stream().filter(Problem::isError).forEach(problems::add);
    Job checked = config.job(name);
    if (checked == null) {
      problems.add(Problem.error(Config.JOB_KEY + name, "this is not the name of a job"));
      return new JobValidation(problems, null);
    }
    problems.addAll(checked.problems());
    boolean good = problems.stream().noneMatch(Problem::isError);
    return new JobValidation(
        problems, good ? BistroJobWriter.toJson(checked, config.settings()) : null);
  }

  /** Refuses a job with errors, and one that would break jobs that depend on it. */
  private void check(WritableConfigSource target, Text text, JobVersion next) {
    Result<Config> result = loader.load(ConfigEdits.with(text, edited(target, text, next)));
    Config config = result.value();
    Job job = config == null ? null : config.job(next.name());
    List<Problem> errors = new ArrayList<>();
    if (config == null) {
      result.problems().stream().filter(Problem::isError).forEach(errors::add);
    } else if (next.job() != null && job != null && !job.isValid()) {
      // With the positions in what was given: those in the edited text are nowhere else.
      Config given = loader.inspectWith(text, Config.JOB_KEY + next.name(), next.job()).value();
      Job placed = given == null ? null : given.job(next.name());
      (placed == null ? job : placed)
          .problems().stream().filter(Problem::isError).forEach(errors::add);
    }
    if (!errors.isEmpty() || (next.job() != null && config != null && job == null)) {
      String message =
          "job "
              + next.name()
              + " was not saved: "
              + errors.stream()
                  .map(
                      problem ->
                          problem.path()
                              + ": "
                              + problem.message()
                              + (problem.hint() == null ? "" : ", " + problem.hint()))
                  .collect(Collectors.joining("; "));
      // A deletion says nothing that could be wrong: the others do not allow it.
      throw next.job() == null
          ? new RefusedException(Reason.CONFLICT, message)
          : RefusedException.invalid(message, errors);
    }
  }

  private static Document document(WritableConfigSource target, Text text, String name) {
    return ConfigEdits.holding(target, text, Config.JOB_KEY + name);
  }

  private static SortedMap<String, Optional<byte[]>> edited(
      WritableConfigSource target, Text text, JobVersion next) {
    return ConfigEdits.edited(
        target, text, Map.of(Config.JOB_KEY + next.name(), Optional.ofNullable(next.job())));
  }

  static RefusedException refused(Unavailable e) {
    return new RefusedException(Reason.UNAVAILABLE, e.problem().toString());
  }
}
