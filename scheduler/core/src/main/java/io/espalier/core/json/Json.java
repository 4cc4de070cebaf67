package io.espalier.core.json;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JSON value. Values are immutable, preserve the order of their keys, and know their position in
 * the text from which they were read. Equality ignores the position, and compares numbers by value.
 */
public sealed interface Json {
  /** The position of the value in its source text, or {@link Position#NONE}. */
  Position at();

  /** The name of this kind of value, with its article, for people: "an object", "a number". */
  String kind();

  /** An object, in the order of its text. */
  record Obj(Map<String, Json> members, Map<String, Position> keyPositions, Position at)
      implements Json {
    public static final Obj EMPTY = new Obj(Map.of());

    public Obj {
      members = Members.copyOf(members);
      keyPositions = Map.copyOf(keyPositions);
    }

    public Obj(Map<String, Json> members) {
      this(members, Map.of(), Position.NONE);
    }

    public @Nullable Json get(String key) {
      return members.get(key);
    }

    /** The position of the key itself, or {@link Position#NONE}. */
    public Position keyAt(String key) {
      return keyPositions.getOrDefault(key, Position.NONE);
    }

    public boolean isEmpty() {
      return members.isEmpty();
    }

    /** A copy with one member set (at its old position, or at the end). */
    public Obj with(String key, Json value) {
      Map<String, Json> copy = new LinkedHashMap<>(members);
      copy.put(key, value);
      return new Obj(copy, keyPositions, at);
    }

    /** A copy without the member, or this object when there is none. */
    public Obj without(String key) {
      if (!members.containsKey(key)) {
        return this;
      }
      Map<String, Json> copy = new LinkedHashMap<>(members);
      copy.remove(key);
      return new Obj(copy, keyPositions, at);
    }

    @Override
    public String kind() {
      return "an object";
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Obj o && members.equals(o.members);
    }

    @Override
    public int hashCode() {
      return members.hashCode();
    }

    @Override
    public String toString() {
      return JsonWriter.compact(this);
    }
  }

  /** An array. */
  record Arr(List<Json> items, Position at) implements Json {
    public static final Arr EMPTY = new Arr(List.of());

    public Arr {
      items = List.copyOf(items);
    }

    public Arr(List<Json> items) {
      this(items, Position.NONE);
    }

    @Override
    public String kind() {
      return "a list";
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Arr o && items.equals(o.items);
    }

    @Override
    public int hashCode() {
      return items.hashCode();
    }

    @Override
    public String toString() {
      return JsonWriter.compact(this);
    }
  }

  /** A string. */
  record Str(String value, Position at) implements Json {
    public Str(String value) {
      this(value, Position.NONE);
    }

    @Override
    public String kind() {
      return "a string";
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Str o && value.equals(o.value);
    }

    @Override
    public int hashCode() {
      return value.hashCode();
    }

    @Override
    public String toString() {
      return JsonWriter.compact(this);
    }
  }

  /** A number of any size and precision. */
  record Num(BigDecimal value, Position at) implements Json {
    /** Most numbers of events are small: bits, attempts, epochs, counts that are still 0. */
    private static final Num[] SMALL = new Num[64];

    static {
      Arrays.setAll(SMALL, value -> new Num(BigDecimal.valueOf(value)));
    }

    public Num(BigDecimal value) {
      this(value, Position.NONE);
    }

    @Override
    public String kind() {
      return "a number";
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Num o && value.compareTo(o.value) == 0;
    }

    @Override
    public int hashCode() {
      return value.signum() == 0 ? 0 : value.stripTrailingZeros().hashCode();
    }

    @Override
    public String toString() {
      return JsonWriter.compact(this);
    }
  }

  /** True or false. */
  record Bool(boolean value, Position at) implements Json {
    public static final Bool TRUE = new Bool(true, Position.NONE);
    public static final Bool FALSE = new Bool(false, Position.NONE);

    @Override
    public String kind() {
      return "a boolean";
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Bool o && value == o.value;
    }

    @Override
    public int hashCode() {
      return Boolean.hashCode(value);
    }

    @Override
    public String toString() {
      return Boolean.toString(value);
    }
  }

  /** The null value. */
  record Null(Position at) implements Json {
    public static final Null NULL = new Null(Position.NONE);

    @Override
    public String kind() {
      return "null";
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Null;
    }

    @Override
    public int hashCode() {
      return 1;
    }

    @Override
    public String toString() {
      return "null";
    }
  }

  static Str of(String value) {
    return new Str(value);
  }

  static Num of(long value) {
    return 0 <= value && value < Num.SMALL.length
        ? Num.SMALL[(int) value]
        : new Num(BigDecimal.valueOf(value));
  }

  /** A number; {@code value} must be finite. */
  static Num of(double value) {
    BigDecimal exact = BigDecimal.valueOf(value);
    return new Num(exact.scale() > 0 ? trimmed(exact) : exact);
  }

  static Bool of(boolean value) {
    return value ? Bool.TRUE : Bool.FALSE;
  }

  static Arr strings(Iterable<String> values) {
    List<Json> items = new ArrayList<>();
    values.forEach(v -> items.add(of(v)));
    return new Arr(items);
  }

  static Builder object() {
    return new Builder();
  }

  private static BigDecimal trimmed(BigDecimal value) {
    BigDecimal stripped = value.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  /** Builds an object in the order of the calls; not thread-safe. */
  final class Builder {
    private final Members.Builder members = new Members.Builder();

    private Builder() {}

    public Builder put(String key, Json value) {
      members.put(key, value);
      return this;
    }

    public Builder put(String key, String value) {
      return put(key, of(value));
    }

    public Builder put(String key, long value) {
      return put(key, of(value));
    }

    public Builder put(String key, double value) {
      return put(key, of(value));
    }

    public Builder put(String key, boolean value) {
      return put(key, of(value));
    }

    /** Adds the key unless the value is null. */
    public Builder putIfPresent(String key, @Nullable Json value) {
      return value == null ? this : put(key, value);
    }

    public Obj build() {
      return new Obj(members.build());
    }
  }
}
