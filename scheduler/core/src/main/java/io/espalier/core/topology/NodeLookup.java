package io.espalier.core.topology;

import java.util.List;

/** The nodes delivered by earlier sources of the same refresh. */
public interface NodeLookup {
  /**
   * The distinct names on a level in their original order; level 0 contains that of the instance.
   */
  List<String> names(int level);
}
