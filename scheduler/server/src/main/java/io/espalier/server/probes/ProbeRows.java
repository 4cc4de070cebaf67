package io.espalier.server.probes;

import io.espalier.core.json.Json;
import io.espalier.core.loop.health.ProbeAnswer;
import io.espalier.core.loop.health.ProbeAnswer.Sample;
import io.espalier.core.text.ShortText;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSpec;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Collects the values of one answer: each row has the name of a node and its value. Of several
 * values of a node the greatest counts. Not thread-safe.
 */
final class ProbeRows implements NodeSink {
  /** The maximum number of rows of an answer. */
  static final int MOST_ROWS = 100_000;

  private static final String VALUE = "value";
  private static final String AT = "at";
  private static final int MOST_DIGITS = 40;
  private static final int MOST_SHOWN = 60;

  private final long askedMillis;
  private final Map<String, Sample> samples = new LinkedHashMap<>();
  private int rows;
  private int broken;
  private String first = "";

  /** Thrown when there are more rows than can be taken. */
  static final class TooManyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooManyException() {
      super("the answer has more than " + MOST_ROWS + " rows");
    }
  }

  /**
   * @param askedMillis when the source was asked: values without an instant of their own are as old
   */
  ProbeRows(long askedMillis) {
    this.askedMillis = askedMillis;
  }

  @Override
  public void add(NodeSpec row) {
    if (++rows > MOST_ROWS) {
      throw new TooManyException();
    }
    Json value = value(row.attributes());
    Double number = number(value);
    Long at = at(row.attributes().get(AT));
    if (number == null || at == null) {
      broken++;
      if (broken == 1) {
        Json wrong = number == null ? value : row.attributes().get(AT);
        first =
            "that of "
                + ShortText.shown(row.name(), MOST_SHOWN)
                + (wrong == null
                    ? " has no value"
                    : (number == null ? " is " : " has the instant ")
                        + ShortText.shown(wrong.toString(), MOST_SHOWN));
      }
      return;
    }
    Sample sample = new Sample(row.name(), number, Math.min(at, askedMillis));
    samples.merge(row.name(), sample, (a, b) -> a.value() >= b.value() ? a : b);
  }

  /** Returns the attribute "value", or the only one beside "at". */
  private static @Nullable Json value(Json.Obj attributes) {
    Json named = attributes.get(VALUE);
    if (named != null) {
      return named;
    }
    List<Json> others = new ArrayList<>();
    attributes.members().keySet().stream()
        .filter(key -> !key.equals(AT))
        .forEach(key -> others.add(Objects.requireNonNull(attributes.get(key))));
    return others.size() == 1 ? others.get(0) : null;
  }

  /** Tables and CSV files have numbers as text. */
  private static @Nullable Double number(@Nullable Json value) {
    Double number = null;
    if (value instanceof Json.Num num) {
      number = num.value().doubleValue();
    } else if (value instanceof Json.Str text && text.value().length() <= MOST_DIGITS) {
      try {
        number = new BigDecimal(text.value().strip()).doubleValue();
      } catch (NumberFormatException e) {
        return null;
      }
    }
    return number != null && Double.isFinite(number) ? number : null;
  }

  /** Returns when a value was sampled, epoch milliseconds; null: that is not an instant. */
  private @Nullable Long at(@Nullable Json at) {
    if (at == null) {
      return askedMillis;
    }
    Double seconds = number(at);
    if (seconds != null) {
      return (long) (seconds * 1000);
    }
    if (at instanceof Json.Str text && text.value().length() <= MOST_DIGITS) {
      try {
        Instant instant = OffsetDateTime.parse(text.value()).toInstant();
        return instant.toEpochMilli();
      } catch (DateTimeException | ArithmeticException e) {
        return null;
      }
    }
    return null;
  }

  ProbeAnswer answer(String probe) {
    String problem =
        broken == 0
            ? ""
            : broken
                + (broken == 1 ? " row of " : " rows of ")
                + rows
                + " cannot be used: "
                + first
                + (broken == 1 ? "" : ", the first of them");
    if (rows == 0) {
      problem = "the answer has no rows";
    }
    return new ProbeAnswer(probe, List.copyOf(samples.values()), problem);
  }
}
