package io.espalier.core.topology;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A value per edge slot, with equal values stored once; slots that were never set have no value.
 */
final class EdgeAttributes<T> {
  private final T nothing;
  private final List<T> values = new ArrayList<>();
  private final Map<T, Integer> indexes = new HashMap<>();
  private final IntList bySlot = new IntList();

  EdgeAttributes(T nothing) {
    this.nothing = nothing;
    values.add(nothing);
  }

  void set(int slot, T value) {
    if (value.equals(nothing)) {
      return;
    }
    while (bySlot.size() < slot) {
      bySlot.add(0);
    }
    Integer index = indexes.get(value);
    if (index == null) {
      index = values.size();
      indexes.put(value, index);
      values.add(value);
    }
    bySlot.add(index);
  }

  T of(int slot) {
    return slot < bySlot.size() ? values.get(bySlot.get(slot)) : nothing;
  }

  boolean isEmpty() {
    return bySlot.size() == 0;
  }

  /** The packed values for slots in another order; indexes are assigned in order of first use. */
  PackedTopology.@Nullable Interned<T> packed(int[] oldSlots) {
    if (isEmpty()) {
      return null;
    }
    int[] renumbered = new int[values.size()];
    List<T> used = new ArrayList<>();
    int[] result = new int[oldSlots.length];
    for (int slot = 0; slot < oldSlots.length; slot++) {
      int old = oldSlots[slot] < bySlot.size() ? bySlot.get(oldSlots[slot]) : 0;
      if (renumbered[old] == 0) {
        used.add(values.get(old));
        renumbered[old] = used.size();
      }
      result[slot] = renumbered[old] - 1;
    }
    return new PackedTopology.Interned<>(List.copyOf(used), result);
  }
}
