package io.espalier.core.loop.state;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An immutable, name-ordered map from job name to V, built without examining any entry. */
public final class NameOrderedMap<V> extends AbstractMap<String, V> {
  private final String[] names;
  private final V[] values;

  /**
   * @param names names in ascending order; must not be changed any more
   * @param values values of these names; must not be changed any more
   */
  public NameOrderedMap(String[] names, V[] values) {
    this.names = names;
    this.values = values;
  }

  private int find(@Nullable Object key) {
    return key instanceof String name ? Arrays.binarySearch(names, name) : -1;
  }

  @Override
  public @Nullable V get(@Nullable Object key) {
    int at = find(key);
    return at < 0 ? null : values[at];
  }

  @Override
  public boolean containsKey(@Nullable Object key) {
    return find(key) >= 0;
  }

  @Override
  public int size() {
    return names.length;
  }

  @Override
  public Set<Map.Entry<String, V>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Map.Entry<String, V>> iterator() {
        return new Entries();
      }

      @Override
      public int size() {
        return names.length;
      }
    };
  }

  private final class Entries implements Iterator<Map.Entry<String, V>> {
    private int next;

    @Override
    public boolean hasNext() {
      return next < names.length;
    }

    @Override
    public Map.Entry<String, V> next() {
      if (next == names.length) {
        throw new NoSuchElementException();
      }
      Map.Entry<String, V> entry = Map.entry(names[next], values[next]);
      next++;
      return entry;
    }
  }
}
