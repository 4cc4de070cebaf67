package io.espalier.core.config;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All resources of a configuration; names are unique across levels. */
public final class ResourceCatalog {
  public static final ResourceCatalog EMPTY = new ResourceCatalog(List.of());

  private final List<Resource> all;
  private final Map<String, Resource> byName = new HashMap<>();
  private final Map<Integer, List<Resource>> byLevel = new HashMap<>();

  /**
   * Creates a catalog.
   *
   * @param all resources in the order of their {@code index}
   */
  public ResourceCatalog(List<Resource> all) {
    this.all = List.copyOf(all);
    for (Resource resource : all) {
      if (!all.get(resource.index()).equals(resource)
          || byName.put(resource.name(), resource) != null) {
        throw new IllegalArgumentException("bad resource " + resource);
      }
      byLevel.computeIfAbsent(resource.level(), l -> new ArrayList<>()).add(resource);
    }
  }

  public List<Resource> all() {
    return all;
  }

  public int count() {
    return all.size();
  }

  public Resource get(int index) {
    return all.get(index);
  }

  public @Nullable Resource find(String name) {
    return byName.get(name);
  }

  /** The resources of the nodes of one level, in index order. */
  public List<Resource> ofLevel(int level) {
    return byLevel.getOrDefault(level, List.of());
  }
}
