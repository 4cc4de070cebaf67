package io.espalier.core.config.schema;

import io.espalier.core.config.Levels;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * The names that values of a configuration can refer to. Immutable.
 *
 * @param policies scheduling policies
 * @param workerSelectors worker selectors
 * @param nodeSources types of node sources
 * @param levels levels of the document
 * @param resources resources of the document
 * @param queues names of the configured queues
 * @param probes names of the probes of the document, broken ones included
 * @param levelsAreKnown whether the levels are those of the document; if not, they are broken, and
 *     references to them are not checked
 * @param areKnown the same of everything that the document defines
 */
public record Names(
    Collection<String> policies,
    Collection<String> workerSelectors,
    Collection<String> nodeSources,
    Levels levels,
    ResourceCatalog resources,
    List<String> queues,
    Collection<String> probes,
    boolean levelsAreKnown,
    boolean areKnown) {

  /** Creates the names of plug-ins, before the document is read. */
  public Names(
      Collection<String> policies,
      Collection<String> workerSelectors,
      Collection<String> nodeSources) {
    this(
        policies,
        workerSelectors,
        nodeSources,
        Levels.of(List.of()),
        ResourceCatalog.EMPTY,
        List.of(),
        List.of(),
        false,
        false);
  }

  /** The names that jobs under these settings can refer to. */
  public static Names of(Settings settings) {
    Json probes = settings.original().get("probes");
    return new Names(
        List.of(),
        List.of(),
        List.of(),
        settings.levels(),
        settings.resources(),
        settings.rules().queues().stream().map(queue -> queue.name()).toList(),
        probes instanceof Json.Obj object ? object.members().keySet() : Set.of(),
        true,
        true);
  }

  /** A copy with the names that the document defines. */
  public Names with(Levels newLevels, ResourceCatalog newResources, List<String> newQueues) {
    return new Names(
        policies,
        workerSelectors,
        nodeSources,
        newLevels,
        newResources,
        newQueues,
        probes,
        true,
        true);
  }

  /** A copy in which at most the levels are known. */
  public Names broken(Levels newLevels, boolean newLevelsAreKnown) {
    return new Names(
        policies,
        workerSelectors,
        nodeSources,
        newLevels,
        ResourceCatalog.EMPTY,
        List.of(),
        probes,
        newLevelsAreKnown,
        false);
  }
}
