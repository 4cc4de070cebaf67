package io.espalier.server.replay;

import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.forecast.JobPace;
import io.espalier.core.forecast.SchedulerSnapshot;
import io.espalier.core.json.Json;
import io.espalier.core.json.JsonWriter;
import io.espalier.core.scheduling.CoreEvent;
import io.espalier.core.status.store.Brake;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot as a recording (docs/replay.md) whose first line tells the rest: when its running
 * tasks were started, and how long tasks take. {@code espalier replay} reads it like any recording.
 */
public final class SnapshotFile {
  private static final String AT = "at_ms";
  private static final String AGES = "running_for_ms";
  private static final String PACES = "durations";
  private static final String MILLIS = "millis";
  private static final String FINISHING = "finishing";
  private static final String BRAKES = "brakes";
  private static final String PAUSES = "pauses";
  private static final String TARGET = "target";
  private static final String LEVEL = "level";
  private static final String NAME = "name";
  private static final String SNAPSHOT = "snapshot";

  private SnapshotFile() {}

  /** Returns the compressed lines of a snapshot. */
  public static byte[] write(SchedulerSnapshot snapshot) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (OutputStream out = new FastGzip(bytes)) {
      EventLines lines = new EventLines(line -> write(out, line));
      write(
          out,
          Json.object()
              .put(Recording.KEY, Recording.VERSION)
              .put("seed", "1")
              .put(SNAPSHOT, about(snapshot))
              .build());
      snapshot.events().forEach(lines::write);
      lines.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Compresses in a third of the usual time, to a little more. */
  private static final class FastGzip extends GZIPOutputStream {
    FastGzip(OutputStream to) throws IOException {
      super(to, 1 << 16);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }

  private static void write(OutputStream out, Json line) {
    try {
      out.write(JsonWriter.compact(line).getBytes(StandardCharsets.UTF_8));
      out.write('\n');
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Json.Obj about(SchedulerSnapshot snapshot) {
    List<Json> ages = new ArrayList<>();
    snapshot
        .startedMillis()
        .forEach(at -> ages.add(Json.of(Math.max(0, snapshot.atMillis() - at))));
    Json.Builder paces = Json.object();
    new TreeMap<>(snapshot.paces())
        .forEach(
            (job, pace) ->
                paces.put(
                    job,
                    Json.object()
                        .put(
                            MILLIS,
                            new Json.Arr(
                                pace.millis().stream().map(each -> (Json) Json.of(each)).toList()))
                        .put(FINISHING, pace.finishing())
                        .build()));
    Json.Builder pauses = Json.object();
    new TreeMap<>(snapshot.pauses()).forEach(pauses::put);
    return Json.object()
        .put(AT, snapshot.atMillis())
        .put(AGES, new Json.Arr(ages))
        .put(PACES, paces.build())
        .put(BRAKES, new Json.Arr(snapshot.brakes().stream().map(SnapshotFile::json).toList()))
        .put(PAUSES, pauses.build())
        .build();
  }

  /** The form of a brake, without what people wrote about it. */
  private static Json json(Brake brake) {
    Json.Builder json =
        Json.object()
            .put(TARGET, brake.key().target().word())
            .put(LEVEL, brake.key().level())
            .put(NAME, brake.key().name());
    brake.toJson().without("author").without("reason").members().forEach(json::put);
    return json.build();
  }

  /**
   * Reads a snapshot into memory.
   *
   * @param parser knows the plug-ins of the scheduler
   * @throws RecordedEvents.BadRecordingException when it is none
   */
  public static SchedulerSnapshot read(byte[] bytes, ConfigParser parser) {
    try (RecordedEvents in = RecordedEvents.read(new ByteArrayInputStream(bytes), parser)) {
      if (!(in.head().get(SNAPSHOT) instanceof Json.Obj about)) {
        throw new RecordedEvents.BadRecordingException("this recording is no snapshot");
      }
      long at = whole(about.get(AT));
      List<Long> started = new ArrayList<>();
      wholes(about.get(AGES)).forEach(age -> started.add(at - age));
      Map<String, JobPace> paces = new TreeMap<>();
      if (about.get(PACES) instanceof Json.Obj jobs) {
        jobs.members().forEach((job, pace) -> paces.put(job, pace(pace)));
      }
      Map<String, Long> pauses = new TreeMap<>();
      if (about.get(PAUSES) instanceof Json.Obj jobs) { // Schedulers of before wrote none.
        jobs.members().forEach((job, until) -> pauses.put(job, whole(until)));
      }
      List<CoreEvent> events = new ArrayList<>();
      in.forEachRemaining(events::add);
      if (in.isCutOff()) {
        throw new RecordedEvents.BadRecordingException("the end of the snapshot is missing");
      }
      return new SchedulerSnapshot(at, events, started, paces, brakes(about), pauses);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Schedulers of before wrote none. */
  private static List<Brake> brakes(Json.Obj about) {
    List<Brake> brakes = new ArrayList<>();
    if (about.get(BRAKES) instanceof Json.Arr all) {
      for (Json each : all.items()) {
        if (each instanceof Json.Obj brake) {
          Brake.Target target = Brake.Target.ofWord(text(brake, TARGET));
          Brake.Key key = new Brake.Key(target, text(brake, LEVEL), text(brake, NAME));
          brakes.add(Brake.fromJson(key, brake));
        }
      }
    }
    return brakes;
  }

  private static String text(Json.Obj json, String key) {
    return json.get(key) instanceof Json.Str text ? text.value() : "";
  }

  private static JobPace pace(Json json) {
    Json.Obj pace = json instanceof Json.Obj object ? object : Json.Obj.EMPTY;
    double finishing =
        pace.get(FINISHING) instanceof Json.Num number ? number.value().doubleValue() : 1;
    return new JobPace(wholes(pace.get(MILLIS)), finishing);
  }

  private static List<Long> wholes(@Nullable Json json) {
    return json instanceof Json.Arr array
        ? array.items().stream().map(SnapshotFile::whole).toList()
        : List.of();
  }

  private static long whole(@Nullable Json json) {
    return json instanceof Json.Num number ? number.value().longValue() : 0;
  }
}
