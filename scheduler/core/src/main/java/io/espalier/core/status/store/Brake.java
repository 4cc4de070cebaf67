package io.espalier.core.status.store;

import io.espalier.core.json.Json;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An operator's brake: fewer starts, or none, in a part of the tree or of the jobs. It kills
 * nothing, is durable, and refers to names: it outlives restarts, reloads, and jobs and nodes that
 * come and go (docs/adr/0067-brakes.md).
 *
 * @param key what it slows down; there is at most one brake per key
 * @param millionths what is left of each limit, from 0 (nothing starts) to below {@link #ONE}
 * @param bases by job or queue without a limit of its own: the number of its running tasks when the
 *     brake was set; {@code millionths} of it are left
 * @param ramp how it ends; null: at once
 * @param author the operator; empty when none was given
 * @param reason reason; may be empty
 * @param sinceMillis time of the command, epoch milliseconds
 * @param untilMillis when it is released by itself, epoch milliseconds; 0: never
 * @param releasedMillis when it was released, so that it now follows its ramp; 0: it is in force
 * @param throttlesRunning whether running tasks are told to work at no more than its factor
 */
@RecordBuilder
public record Brake(
    Key key,
    int millionths,
    Map<String, Integer> bases,
    @Nullable Ramp ramp,
    String author,
    String reason,
    long sinceMillis,
    long untilMillis,
    long releasedMillis,
    boolean throttlesRunning)
    implements BrakeBuilder.With {
  /** The factor that slows nothing down, in millionths. */
  public static final int ONE = 1_000_000;

  /** What a brake slows down. */
  public enum Target {
    /** Everything. */
    ALL,
    /** A node and everything below it. */
    NODE,
    /** All jobs of a queue together. */
    QUEUE,
    /** Each job of a set. */
    SET,
    /** One job. */
    JOB;

    /** Returns the name in the API and in stores. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the target of a name.
     *
     * @throws IllegalArgumentException for any other name
     */
    public static Target ofWord(String word) {
      return valueOf(word.toUpperCase(Locale.ROOT));
    }
  }

  /**
   * Identifies a brake.
   *
   * @param level the level of a node; otherwise empty
   * @param name the name of the node, queue, set or job; empty for everything
   */
  public record Key(Target target, String level, String name) {
    /** Returns the key of the brake on everything. */
    public static Key all() {
      return new Key(Target.ALL, "", "");
    }

    /** Returns it in words. */
    @Override
    public String toString() {
      return switch (target) {
        case ALL -> "everything";
        case NODE -> level + " " + name;
        case QUEUE, SET, JOB -> target.word() + " " + name;
      };
    }
  }

  /**
   * A release in steps.
   *
   * @param millionths by how much the factor rises at once, and then after each step; above 0
   * @param millis duration of a step; above 0
   */
  public record Ramp(int millionths, long millis) {
    public Ramp {
      if (millionths <= 0 || millis <= 0) {
        throw new IllegalArgumentException("a ramp of " + millionths + " every " + millis + " ms");
      }
    }
  }

  /**
   * A brake that leaves running tasks alone, ends only when it is released, and then at once.
   *
   * @param millionths what is left of each limit
   */
  public static BrakeBuilder of(Key key, int millionths) {
    return new Brake(key, millionths, Map.of(), null, "", "", 0, 0, 0, false).with();
  }

  public Brake {
    bases = Map.copyOf(bases);
    if (millionths < 0 || millionths >= ONE) {
      throw new IllegalArgumentException("a brake with a factor of " + millionths);
    }
  }

  /** Returns what is left of each limit at an instant; {@link #ONE}: the brake is over. */
  public int factorAt(long nowMillis) {
    if (releasedMillis == 0) {
      return millionths;
    }
    if (ramp == null) {
      return ONE;
    }
    long steps = 1 + Math.max(0, nowMillis - releasedMillis) / ramp.millis();
    return (int) Math.min(ONE, millionths + steps * ramp.millionths());
  }

  /** Returns when the factor changes by itself; {@link Long#MAX_VALUE}: it does not. */
  public long nextMillis(long nowMillis) {
    if (releasedMillis == 0) {
      return untilMillis == 0 ? Long.MAX_VALUE : untilMillis;
    }
    if (ramp == null) {
      return nowMillis;
    }
    long steps = 1 + Math.max(0, nowMillis - releasedMillis) / ramp.millis();
    return releasedMillis + steps * ramp.millis();
  }

  /**
   * Returns it as it is at an instant: released if it ends by itself before. Its ramp begins at its
   * end, also if nobody looked at that moment.
   */
  public Brake endedBy(long nowMillis) {
    boolean ends = releasedMillis == 0 && untilMillis > 0 && untilMillis <= nowMillis;
    return ends ? withReleasedMillis(untilMillis) : this;
  }

  /** Returns a share of a number of tasks: at least one. */
  public static int share(int tasks, int millionths) {
    return (int) Math.max(1, ((long) tasks * millionths + ONE - 1) / ONE);
  }

  /** Returns a factor in the form that people write, such as {@code 0.25}. */
  public static BigDecimal decimal(int millionths) {
    return BigDecimal.valueOf(millionths, 6).stripTrailingZeros();
  }

  /** The form for stores, without the key; see {@link #fromJson}. */
  public Json.Obj toJson() {
    Json.Builder out =
        Json.object()
            .put("millionths", millionths)
            .put("author", author)
            .put("reason", reason)
            .put("since_ms", sinceMillis);
    if (untilMillis > 0) {
      out.put("until_ms", untilMillis);
    }
    if (releasedMillis > 0) {
      out.put("released_ms", releasedMillis);
    }
    if (throttlesRunning) {
      out.put("throttle_running", true);
    }
    if (ramp != null) {
      out.put("ramp_millionths", ramp.millionths()).put("ramp_ms", ramp.millis());
    }
    if (!bases.isEmpty()) {
      Json.Builder each = Json.object();
      new TreeMap<>(bases).forEach(each::put);
      out.put("bases", each.build());
    }
    return out.build();
  }

  /**
   * Parses the result of {@link #toJson}.
   *
   * @throws IllegalArgumentException for anything else
   */
  public static Brake fromJson(Key key, Json.Obj json) {
    Map<String, Integer> bases = new TreeMap<>();
    if (json.get("bases") instanceof Json.Obj each) {
      each.members().keySet().forEach(name -> bases.put(name, (int) number(each, name)));
    }
    return new Brake(
        key,
        (int) number(json, "millionths"),
        bases,
        json.get("ramp_ms") == null
            ? null
            : new Ramp((int) number(json, "ramp_millionths"), number(json, "ramp_ms")),
        text(json, "author"),
        text(json, "reason"),
        number(json, "since_ms"),
        number(json, "until_ms"),
        number(json, "released_ms"),
        Json.Bool.TRUE.equals(json.get("throttle_running")));
  }

  private static long number(Json.Obj json, String name) {
    return json.get(name) instanceof Json.Num number ? number.value().longValue() : 0;
  }

  private static String text(Json.Obj json, String name) {
    return json.get(name) instanceof Json.Str text ? text.value() : "";
  }
}
