package io.espalier.core.loop;

import io.espalier.core.api.JobProgress;
import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The progress of jobs by name, in the order of names; made without a look at any of them. */
final class SortedProgress extends AbstractMap<String, JobProgress> {
  private final String[] names;
  private final JobProgress[] values;

  /**
   * @param names ascending; never changed any more
   * @param values to the names; never changed any more
   */
  SortedProgress(String[] names, JobProgress[] values) {
    this.names = names;
    this.values = values;
  }

  private int find(@Nullable Object key) {
    return key instanceof String name ? Arrays.binarySearch(names, name) : -1;
  }

  @Override
  public @Nullable JobProgress get(@Nullable Object key) {
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
  public Set<Map.Entry<String, JobProgress>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public Iterator<Map.Entry<String, JobProgress>> iterator() {
        return new Entries();
      }

      @Override
      public int size() {
        return names.length;
      }
    };
  }

  private final class Entries implements Iterator<Map.Entry<String, JobProgress>> {
    private int next;

    @Override
    public boolean hasNext() {
      return next < names.length;
    }

    @Override
    public Map.Entry<String, JobProgress> next() {
      if (next == names.length) {
        throw new NoSuchElementException();
      }
      Map.Entry<String, JobProgress> entry = Map.entry(names[next], values[next]);
      next++;
      return entry;
    }
  }
}
