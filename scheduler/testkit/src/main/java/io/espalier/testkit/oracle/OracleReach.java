package io.espalier.testkit.oracle;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Job;
import io.espalier.core.config.Resource;
import io.espalier.core.status.TaskKey;
import io.espalier.testkit.oracle.Oracle.Failure;
import io.espalier.testkit.oracle.Oracle.Place;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What jobs could use if slots were free: for what is kept for them. */
public final class OracleReach {
  private static final Set<Kind> KEEPING =
      EnumSet.of(
          Kind.SCHEDULER_DISABLED,
          Kind.JOB_DISABLED,
          Kind.JOB_INVALID,
          Kind.JOB_PAUSED,
          Kind.BRAKE,
          Kind.WINDOW,
          Kind.JOB_DEPENDENCY,
          Kind.DEPENDENCY,
          Kind.ROLLOUT,
          Kind.DEADLINE,
          Kind.JOB_FAILED,
          Kind.JOB_SUCCEEDED);

  private final Oracle oracle;

  OracleReach(Oracle oracle) {
    this.oracle = oracle;
  }

  private OracleTree tree() {
    return oracle.tree();
  }

  /**
   * Returns the places on the paths of a task that it could pass if slots were free there and
   * above: it lacks no slots below them.
   *
   * @param otherwise kinds of failures, other than a lack of slots, that exclude the task or the
   *     path
   */
  Set<Place> wantedBy(TaskKey task, Set<Kind> otherwise) {
    Job job = oracle.job(task.job());
    Set<Place> wanted = new HashSet<>();
    if (oracle.failuresOfTask(job, task.node()).stream()
        .anyMatch(f -> otherwise.contains(f.kind()))) {
      return wanted;
    }
    for (List<Integer> path : tree().paths(tree().node(job, task.node()))) {
      List<Failure> failures = oracle.failuresOnPath(job, path);
      if (failures.stream().noneMatch(f -> otherwise.contains(f.kind()))) {
        boolean fits = true;
        for (int slot : path) {
          if (fits) {
            wanted.add(tree().placeOf(slot));
          }
          Place at = tree().placeOf(slot);
          fits &= failures.stream().noneMatch(f -> isLackOf(at, f));
        }
      }
    }
    return wanted;
  }

  private boolean isLackOf(Place place, Failure failure) {
    Resource resource = oracle.config().settings().resources().find(failure.resource());
    return (failure.kind() == Kind.RESOURCE || failure.kind() == Kind.RESERVED)
        && resource != null
        && failure.node().equals(place.node())
        && oracle.topology().levels().name(resource.level()).equals(place.level());
  }

  /** Returns the sum of the effective limits over the nodes of the level or over the workers. */
  public long slotsInAll(Resource resource) {
    if (resource.level() == oracle.topology().levels().worker()) {
      return oracle.pool().workers().values().stream()
          .mapToLong(w -> oracle.limitOn(w, resource))
          .sum();
    }
    String level = oracle.topology().levels().name(resource.level());
    return OracleTree.names(oracle.topology(), resource.level()).stream()
        .mapToLong(
            name ->
                oracle
                    .slots()
                    .limit(
                        new Place(level, name),
                        resource,
                        OracleLimits.of(oracle.config(), oracle.topology(), name, resource)))
        .sum();
  }

  /**
   * Returns whether only slots in use prevent a job from passing a place and the places above it,
   * so that the place may be reserved for it (docs/adr/0035-reservations.md).
   */
  boolean mayGoUp(Job job, Place place) {
    return oracle.failuresOfJob(job).isEmpty()
        && tree().paths(tree().find(place)).stream().anyMatch(path -> mayGoAlong(job, path));
  }

  private boolean mayGoAlong(Job job, List<Integer> path) {
    boolean isPlaced = oracle.pool().isPlaced(job);
    for (int slot : path) {
      int node = oracle.topology().node(slot);
      for (Resource resource :
          oracle.config().settings().resources().ofLevel(oracle.topology().level(node))) {
        int need = job.needs().get(resource.index());
        if (need > 0 && need > oracle.limitOf(tree().place(node), resource)) {
          return false;
        }
      }
      boolean isHost =
          isPlaced && oracle.topology().level(node) == job.levelForHostPlacement().orElseThrow();
      if (!oracle.topology().enabled(slot)
          || oracle.nodeGates().isClosed(tree().place(node), job)
          || !tree().passes(job, slot)
          || (isHost
              && !oracle.pool().isThere(oracle.config(), job, oracle.topology().name(node)))) {
        return false;
      }
    }
    return isPlaced || oracle.pool().isThere(oracle.config(), job, oracle.pool().hostOf(job));
  }

  /**
   * Returns whether a job lacks slots of a place, or of one above it, because they are in use or
   * reserved.
   */
  boolean lacksSlotsUpwards(Job job, Place place) {
    return tree().paths(tree().find(place)).stream()
        .flatMap(List::stream)
        .map(tree()::placeOf)
        .anyMatch(
            at ->
                oracle
                    .config()
                    .settings()
                    .resources()
                    .ofLevel(oracle.topology().levels().find(at.level()))
                    .stream()
                    .anyMatch(r -> lacks(job, at, r)));
  }

  private boolean lacks(Job job, Place place, Resource resource) {
    int need = job.needs().get(resource.index());
    return (need > 0 && need > oracle.free(place, resource))
        || oracle.reservations().keepsFrom(job, place, resource);
  }

  /**
   * Returns whether something other than slots, tokens, workers and its own status blocks a task.
   */
  public boolean isKept(TaskKey task) {
    return oracle.failuresOfTask(oracle.job(task.job()), task.node()).stream()
        .anyMatch(failure -> KEEPING.contains(failure.kind()));
  }

  /** Returns the same for all tasks of a job. */
  public boolean isKept(Job job) {
    return oracle.failuresOfJob(job).stream().anyMatch(failure -> KEEPING.contains(failure.kind()));
  }
}
