package io.espalier.core.rollout;

import io.espalier.core.json.Json;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How far the roll-out of a job is: what is stored of it beside its {@link RolloutMembers}.
 * Immutable.
 *
 * @param fingerprint identifies what the tasks run and the stages
 * @param stages the stages as in the configuration, such as {@code 1%}
 * @param sizes how many tasks each stage and those before it had when the roll-out began
 * @param stage the stage that was opened last, from 0
 * @param phase what it waits for
 * @param openedMillis when the stage was opened, epoch milliseconds
 * @param endedMillis when the last task of the stage had ended, epoch milliseconds; 0: not yet
 * @param counted how many tasks of the stage have ended or failed once
 * @param failed how many of these have failed, in any attempt
 * @param p95Millis the 95th percentile of the durations in the last stage that had enough tasks; 0:
 *     none had
 * @param reason why it is halted, or waits although nothing is to be approved; otherwise empty
 * @param author who has halted it; empty: a check
 */
@RecordBuilder
public record Rollout(
    String job,
    long fingerprint,
    List<String> stages,
    List<Long> sizes,
    int stage,
    Phase phase,
    long openedMillis,
    long endedMillis,
    long counted,
    long failed,
    long p95Millis,
    String reason,
    String author)
    implements RolloutBuilder.With {
  /** What a roll-out waits for. */
  public enum Phase {
    /** For the tasks of the stage. */
    RUNNING,
    /** For the end of the soak. */
    SOAKING,
    /** For a person who opens the next stage. */
    WAITING,
    /** For a person who resumes the job, or opens the next stage. */
    HALTED,
    /** For nothing: all stages have passed. */
    PASSED;

    /** Returns the name in the API and in stores. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public Rollout {
    stages = List.copyOf(stages);
    sizes = List.copyOf(sizes);
    if (stage < 0 || stage >= stages.size() || sizes.size() != stages.size()) {
      throw new IllegalArgumentException("stage " + stage + " of " + stages);
    }
  }

  /** Returns whether the open stage is the last one. */
  public boolean isLast() {
    return stage == stages.size() - 1;
  }

  /** Returns how many tasks a stage adds to those before it. */
  public long tasks(int number) {
    return sizes.get(number) - (number == 0 ? 0 : sizes.get(number - 1));
  }

  /** Returns a stage in words, such as {@code stage 2 of 4 (1%)}. */
  public String words(int number) {
    return "stage " + (number + 1) + " of " + stages.size() + " (" + stages.get(number) + ")";
  }

  /** Returns the roll-out of a job whose first stage has just been opened. */
  public static Rollout begun(
      String job, long fingerprint, List<String> stages, List<Long> sizes, long nowMillis) {
    return new Rollout(
        job, fingerprint, stages, sizes, 0, Phase.RUNNING, nowMillis, 0, 0, 0, 0, "", "");
  }

  /** Returns the roll-out in another phase. */
  public Rollout in(Phase next, long atEndMillis) {
    return with().phase(next).endedMillis(atEndMillis).reason("").author("").build();
  }

  /** Returns the roll-out while its stage proves too little for the next one to open by itself. */
  public Rollout inconclusive(String why) {
    return in(Phase.WAITING, endedMillis).with().reason(why).build();
  }

  /** Returns the roll-out after it was halted. */
  public Rollout halted(String why, String by) {
    return with().phase(Phase.HALTED).reason(why).author(by).build();
  }

  /** Returns the roll-out after a person has resumed it: what was counted does not count. */
  public Rollout resumed() {
    return in(Phase.RUNNING, 0).withCounts(0, 0);
  }

  /** Returns the roll-out with a later stage open. */
  public Rollout opened(int next, long p95, long nowMillis) {
    return resumed().with().stage(next).openedMillis(nowMillis).p95Millis(p95).build();
  }

  /** Returns the roll-out after another task of the stage has ended or failed. */
  public Rollout counted(boolean hasFailed) {
    return withCounts(counted + 1, failed + (hasFailed ? 1 : 0));
  }

  /** Returns the roll-out without a task that was counted as failed. */
  public Rollout uncounted() {
    return withCounts(Math.max(0, counted - 1), Math.max(0, failed - 1));
  }

  private Rollout withCounts(long ofCounted, long ofFailed) {
    return with().counted(ofCounted).failed(ofFailed).build();
  }

  /** Returns the next stage that has tasks of its own, or the last one. */
  public int next() {
    int next = stage + 1;
    while (next < stages.size() - 1 && sizes.get(next).equals(sizes.get(next - 1))) {
      next++;
    }
    return next;
  }

  /** Returns the form for stores, without the job's name. */
  public Json.Obj toJson() {
    List<Json> numbers = new ArrayList<>();
    sizes.forEach(size -> numbers.add(Json.of(size)));
    return Json.object()
        .put("fingerprint", Long.toString(fingerprint, 36))
        .put("stages", Json.strings(stages))
        .put("sizes", new Json.Arr(numbers))
        .put("stage", stage)
        .put("phase", phase.word())
        .put("opened_ms", openedMillis)
        .put("ended_ms", endedMillis)
        .put("counted", counted)
        .put("failed", failed)
        .put("p95_ms", p95Millis)
        .put("reason", reason)
        .put("author", author)
        .build();
  }

  /**
   * Parses the result of {@link #toJson}.
   *
   * @throws IllegalArgumentException for anything else
   */
  public static Rollout fromJson(String job, Json.Obj json) {
    List<String> stages = new ArrayList<>();
    for (Json each : items(json, "stages")) {
      stages.add(each instanceof Json.Str text ? text.value() : each.toString());
    }
    List<Long> sizes = new ArrayList<>();
    for (Json each : items(json, "sizes")) {
      sizes.add(number("sizes", each));
    }
    return new Rollout(
        job,
        Long.parseLong(text(json, "fingerprint"), 36),
        stages,
        sizes,
        (int) number("stage", json.get("stage")),
        Phase.valueOf(text(json, "phase").toUpperCase(Locale.ROOT)),
        number("opened_ms", json.get("opened_ms")),
        number("ended_ms", json.get("ended_ms")),
        number("counted", json.get("counted")),
        number("failed", json.get("failed")),
        number("p95_ms", json.get("p95_ms")),
        text(json, "reason"),
        text(json, "author"));
  }

  private static List<Json> items(Json.Obj json, String key) {
    if (json.get(key) instanceof Json.Arr array) {
      return array.items();
    }
    throw new IllegalArgumentException(key + " is missing");
  }

  private static String text(Json.Obj json, String key) {
    if (json.get(key) instanceof Json.Str text) {
      return text.value();
    }
    throw new IllegalArgumentException(key + " is missing");
  }

  private static long number(String key, @Nullable Json json) {
    if (json instanceof Json.Num number) {
      return number.value().longValue();
    }
    throw new IllegalArgumentException(key + " is missing");
  }
}
