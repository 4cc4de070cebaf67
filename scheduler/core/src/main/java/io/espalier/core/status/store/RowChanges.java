package io.espalier.core.status.store;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What a transaction changes in a table of rows with keys: each key is removed or put, or neither.
 * Immutable.
 *
 * @param removed the keys whose rows are deleted; missing rows are not an error
 * @param put rows to write, replacing older ones with the same key, in the order of the changes
 */
public record RowChanges<K, V>(Set<K> removed, Map<K, V> put) {
  public RowChanges {
    removed = Set.copyOf(removed);
    put = Collections.unmodifiableMap(new LinkedHashMap<>(put));
  }

  /** The rows to write. */
  public Collection<V> rows() {
    return put.values();
  }

  /** The number of changes. */
  public int size() {
    return removed.size() + put.size();
  }

  /** Changes rows that are in memory. */
  public void applyTo(Map<K, V> rows) {
    removed.forEach(rows::remove);
    rows.putAll(put);
  }

  /** Collects changes in the order in which they happened. Not thread-safe. */
  static final class Builder<K, V> {
    private final Set<K> removed = new LinkedHashSet<>();
    private final Map<K, V> put = new LinkedHashMap<>();

    void put(K key, V row) {
      removed.remove(key);
      put.put(key, Objects.requireNonNull(row));
    }

    void remove(K key) {
      put.remove(key);
      removed.add(key);
    }

    void add(RowChanges<K, V> later) {
      later.removed.forEach(this::remove);
      later.put.forEach(this::put);
    }

    int size() {
      return removed.size() + put.size();
    }

    RowChanges<K, V> build() {
      return new RowChanges<>(removed, put);
    }
  }
}
