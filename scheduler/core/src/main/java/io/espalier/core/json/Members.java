package io.espalier.core.json;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The members of a small JSON object, in their order: an array of keys and values. A scheduler
 * makes and holds many such objects (events, arguments of tasks), and a hash table of five members
 * takes five times the memory. Objects of more than {@link #MOST} members have a hash table.
 *
 * <p>Immutable.
 */
final class Members extends AbstractMap<String, Json> {
  /** Up to this number of members, looking at each key is as fast as hashing. */
  static final int MOST = 12;

  private static final Members EMPTY = new Members(new Object[0]);

  /** Each key, followed by its value. */
  private final Object[] pairs;

  private Members(Object[] pairs) {
    this.pairs = pairs;
  }

  /** Returns an immutable map with the same members in the same order. */
  static Map<String, Json> copyOf(Map<String, Json> members) {
    if (members instanceof Members) {
      return members;
    }
    Builder builder = new Builder();
    members.forEach(builder::put);
    return builder.build();
  }

  @Override
  public int size() {
    return pairs.length / 2;
  }

  @Override
  public @Nullable Json get(@Nullable Object key) {
    for (int i = 0; i < pairs.length; i += 2) {
      if (pairs[i].equals(key)) {
        return (Json) pairs[i + 1];
      }
    }
    return null;
  }

  /** Returns the key of a member, in their order. */
  String key(int member) {
    return (String) pairs[2 * member];
  }

  /** Returns the value of a member, in their order. */
  Json value(int member) {
    return (Json) pairs[2 * member + 1];
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    return get(key) != null;
  }

  @Override
  public Set<Entry<String, Json>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public int size() {
        return pairs.length / 2;
      }

      @Override
      public Iterator<Entry<String, Json>> iterator() {
        return new Entries();
      }
    };
  }

  private final class Entries implements Iterator<Entry<String, Json>> {
    private int next;

    @Override
    public boolean hasNext() {
      return next < pairs.length;
    }

    @Override
    public Entry<String, Json> next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      Entry<String, Json> entry = Map.entry((String) pairs[next], (Json) pairs[next + 1]);
      next += 2;
      return entry;
    }
  }

  /** Collects members in the order in which their keys are put first. Not thread-safe. */
  static final class Builder {
    private Object[] pairs = new Object[2 * 4];
    private int length;

    /** All members, once there are more than {@link #MOST}. */
    private @Nullable Map<String, Json> many;

    void put(String key, Json value) {
      Objects.requireNonNull(value, key);
      if (many != null) {
        many.put(key, value);
        return;
      }
      for (int i = 0; i < length; i += 2) {
        if (pairs[i].equals(key)) {
          pairs[i + 1] = value;
          return;
        }
      }
      if (length == 2 * MOST) {
        many = new LinkedHashMap<>(new Members(pairs));
        many.put(key, value);
        return;
      }
      if (length == pairs.length) {
        pairs = Arrays.copyOf(pairs, 2 * MOST);
      }
      pairs[length++] = key;
      pairs[length++] = value;
    }

    Map<String, Json> build() {
      if (many != null) {
        return Collections.unmodifiableMap(many);
      }
      return length == 0 ? EMPTY : new Members(Arrays.copyOf(pairs, length));
    }
  }
}
