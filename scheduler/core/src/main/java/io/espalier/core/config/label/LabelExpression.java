package io.espalier.core.config.label;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A condition on the labels of a worker: {@code arch == 'x86' and zone in ['a', 'b']}. All values
 * are texts. Immutable; equal when the texts are equal.
 *
 * <pre>
 * either    = both { "or" both }
 * both      = single { "and" single }
 * single    = "not" single | "(" either ")" | NAME [ condition ]
 * condition = "==" TEXT | "!=" TEXT | [ "not" ] "in" "[" TEXT { "," TEXT } "]"
 * </pre>
 *
 * <p>A name alone holds when the worker has the label. A label that is missing equals no text: so
 * {@code !=} and {@code not in} hold, {@code ==} and {@code in} do not.
 */
public final class LabelExpression {
  /** Every worker. */
  public static final LabelExpression ANY = new LabelExpression("", new Every());

  /** The longest text. */
  public static final int LONGEST = 1000;

  private final String text;
  private final Condition condition;

  /** A part of an expression. */
  sealed interface Condition {
    boolean holds(Map<String, String> labels);

    void addNames(Set<String> names);
  }

  private record Every() implements Condition {
    @Override
    public boolean holds(Map<String, String> labels) {
      return true;
    }

    @Override
    public void addNames(Set<String> names) {}
  }

  /**
   * @param values null: any
   */
  record Has(String name, @Nullable Set<String> values) implements Condition {
    @Override
    public boolean holds(Map<String, String> labels) {
      String value = labels.get(name);
      return value != null && (values == null || values.contains(value));
    }

    @Override
    public void addNames(Set<String> names) {
      names.add(name);
    }
  }

  record Not(Condition inner) implements Condition {
    @Override
    public boolean holds(Map<String, String> labels) {
      return !inner.holds(labels);
    }

    @Override
    public void addNames(Set<String> names) {
      inner.addNames(names);
    }
  }

  /** Two conditions: both must be true, or one. */
  record Pair(boolean both, Condition first, Condition second) implements Condition {
    @Override
    public boolean holds(Map<String, String> labels) {
      return both
          ? first.holds(labels) && second.holds(labels)
          : first.holds(labels) || second.holds(labels);
    }

    @Override
    public void addNames(Set<String> names) {
      first.addNames(names);
      second.addNames(names);
    }
  }

  private LabelExpression(String text, Condition condition) {
    this.text = text;
    this.condition = condition;
  }

  /**
   * Parses an expression.
   *
   * @throws LabelSyntaxException with the position of the error
   */
  public static LabelExpression parse(String text) throws LabelSyntaxException {
    return new LabelExpression(text, new LabelParser(text).parse());
  }

  /** Returns whether a worker with these labels fits. */
  public boolean holds(Map<String, String> labels) {
    return condition.holds(labels);
  }

  /** Adds the names of the labels in the expression. */
  public void addNames(Set<String> names) {
    condition.addNames(names);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LabelExpression o && text.equals(o.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** Returns the text; empty for {@link #ANY}. */
  @Override
  public String toString() {
    return text;
  }
}
