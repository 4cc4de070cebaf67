package io.espalier.core.topology;

import java.util.List;

/** What earlier sources of the same refresh delivered. */
public interface NodeLookup {
  /** The distinct names on a level in their original order; the instance's on level 0. */
  List<String> names(int level);
}
