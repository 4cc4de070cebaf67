package io.espalier.core.scheduling.window;

import io.espalier.core.config.window.OpenTimes;
import io.espalier.core.config.window.OpenTimes.Opening;
import io.espalier.core.config.window.Schedule;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The nodes of a level with the same windows, and what is open on them. */
final class WindowGroup {
  private static final long UNKNOWN = -1;

  final GroupKey key;
  final OpenTimes times;
  final List<Integer> nodes = new ArrayList<>();

  /** The jobs whose tasks would not end before the window that is open closes. */
  final Map<String, Cutoff> cutoffs = new LinkedHashMap<>();

  boolean isClosed;
  boolean isKnown;
  boolean isQueued;

  /** Whether it was seen to open, and what was missed in it is not counted yet. */
  boolean isWatched;

  long since;

  /** When it opens, or closes, next; {@link Long#MAX_VALUE}: never. */
  long changes = Long.MAX_VALUE;

  int applied;

  private long longest = UNKNOWN;

  /**
   * What the nodes of a group have in common.
   *
   * @param brokenAttribute the attribute that has no windows; empty: there is a schedule
   */
  record GroupKey(int level, Schedule schedule, String brokenAttribute) {}

  /**
   * That a job is closed on the nodes of the group.
   *
   * @param takesMillis how long a task must be able to run
   * @param reason what follows the name of a node
   * @param untilMillis when the first window opens that is long enough; 0: none does
   */
  record Cutoff(long takesMillis, String reason, long sinceMillis, long untilMillis) {}

  WindowGroup(GroupKey key) {
    this.key = key;
    times = new OpenTimes(List.of(key.schedule));
  }

  Scope scope(Topology topology, int node) {
    return Scope.node(topology.levels().name(key.level), topology.name(node));
  }

  /** Returns when it opens, for all jobs or for one; {@link Long#MAX_VALUE}: it does not. */
  long opensMillis() {
    long opens = isClosed ? changes : Long.MAX_VALUE;
    for (Cutoff cutoff : cutoffs.values()) {
      opens = cutoff.untilMillis > 0 ? Math.min(opens, cutoff.untilMillis) : opens;
    }
    return opens;
  }

  /** Returns whether a task takes longer than any window, as far as that was computed so far. */
  boolean isTooLong(long takesMillis) {
    return longest != UNKNOWN && takesMillis > longest;
  }

  /** Cuts off a job whose tasks would not end before the group closes. */
  Cutoff cutoff(long takesMillis, long nowMillis) {
    longest = longest == UNKNOWN ? times.longestMillis() : longest;
    // To look for what does not exist costs more than anything else here.
    @Nullable Opening next = takesMillis > longest ? null : times.next(nowMillis, takesMillis);
    long opens = next == null ? Long.MAX_VALUE : next.fromMillis();
    return new Cutoff(
        takesMillis,
        WindowMessages.tooShort(key.schedule, changes, takesMillis, opens, nowMillis),
        nowMillis,
        next == null ? 0 : opens);
  }
}
