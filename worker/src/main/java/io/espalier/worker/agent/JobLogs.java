package io.espalier.worker.agent;

import io.espalier.core.config.task.LogOptions;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.logs.LogPolicy;
import io.espalier.core.logs.LogQuery;
import io.espalier.core.logs.LogStore;
import io.espalier.core.status.JsonDecoder;
import io.espalier.worker.files.AtomicFiles;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The log policy and the redaction of each job. It learns them from the starts of the job's tasks
 * and persists them in its data directory: the policy of a job still applies after the worker has
 * restarted and before anybody starts that job again. Thread-safe.
 */
public final class JobLogs {
  private final Path file;
  private final LogStore store;
  private final LogPolicy ofAll;
  private final Map<String, LogOptions> byJob = new TreeMap<>();
  private boolean dirty;

  private JobLogs(Path file, LogStore store, LogPolicy ofAll) {
    this.file = file;
    this.store = store;
    this.ofAll = ofAll;
  }

  /**
   * Opens the file and applies the remembered settings.
   *
   * @param ofAll policy for jobs that set none of their own
   * @throws IOException naming the file, when it cannot be read or is damaged
   */
  public static JobLogs open(Path file, LogStore store, LogPolicy ofAll, JsonDecoder json)
      throws IOException {
    JobLogs logs = new JobLogs(file, store, ofAll);
    if (Files.exists(file)) {
      logs.read(json);
    }
    store.apply(ofAll.withOptions(logs.byJob));
    return logs;
  }

  private void read(JsonDecoder json) throws IOException {
    if (!(json.read(Files.readString(file)).value() instanceof Json.Obj jobs)) {
      throw damaged();
    }
    for (Map.Entry<String, Json> job : jobs.members().entrySet()) {
      if (!(job.getValue() instanceof Json.Obj form)) {
        throw damaged();
      }
      List<String> patterns = new ArrayList<>();
      if (form.get("redact") instanceof Json.Arr given) {
        for (Json pattern : given.items()) {
          if (!(pattern instanceof Json.Str text)
              || !LogQuery.complaintAbout(text.value()).isEmpty()) {
            throw damaged();
          }
          patterns.add(text.value());
        }
      }
      Long days = number(form.get("retention_days"));
      Long mb = number(form.get("max_mb"));
      byJob.put(
          job.getKey(),
          new LogOptions(
              days == null ? OptionalInt.empty() : OptionalInt.of(days.intValue()),
              mb == null ? OptionalLong.empty() : OptionalLong.of(mb),
              patterns));
    }
  }

  private @Nullable Long number(@Nullable Json value) throws IOException {
    if (value == null) {
      return null;
    }
    if (value instanceof Json.Num number
        && number.value().signum() >= 0
        && number.value().compareTo(BigDecimal.valueOf(Integer.MAX_VALUE)) <= 0) {
      return number.value().longValue();
    }
    throw damaged();
  }

  private IOException damaged() {
    return new IOException(
        file
            + " is damaged; without it, output of jobs is kept as --log-retention-days says until"
            + " their next task starts here");
  }

  /** Sets the options of a job; they are in force when this method returns. */
  public synchronized void set(String job, LogOptions options) {
    LogOptions before = byJob.getOrDefault(job, LogOptions.DEFAULT);
    if (before.equals(options)) {
      return;
    }
    if (options.equals(LogOptions.DEFAULT)) {
      byJob.remove(job);
    } else {
      byJob.put(job, options);
    }
    dirty = true;
    store.apply(ofAll.withOptions(byJob));
  }

  /** Persists changed settings. Call it before lines are deleted because of them. */
  public void save() throws IOException {
    byte[] text;
    synchronized (this) {
      if (!dirty) {
        return;
      }
      dirty = false;
      text = JsonWriter.compact(toJson()).getBytes(StandardCharsets.UTF_8);
    }
    boolean saved = false;
    try {
      AtomicFiles.replace(file, text);
      saved = true;
    } finally {
      if (!saved) {
        synchronized (this) {
          dirty = true;
        }
      }
    }
  }

  private Json.Obj toJson() {
    Json.Builder jobs = Json.object();
    byJob.forEach(
        (job, options) -> {
          Json.Builder form = Json.object();
          options.retentionDays().ifPresent(days -> form.put("retention_days", days));
          options.maxMb().ifPresent(mb -> form.put("max_mb", mb));
          if (!options.redact().isEmpty()) {
            form.put("redact", Json.strings(options.redact()));
          }
          jobs.put(job, form.build());
        });
    return jobs.build();
  }
}
