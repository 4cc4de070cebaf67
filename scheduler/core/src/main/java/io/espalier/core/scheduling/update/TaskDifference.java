package io.espalier.core.scheduling.update;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.scheduling.capacity.ConfiguredLimits;
import io.espalier.core.scheduling.capacity.UnsatisfiableJobs;
import io.espalier.core.scheduling.job.JobTable;
import io.espalier.core.scheduling.task.NodeEligibility;
import io.espalier.core.topology.Topology;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of a configuration compared with those of the one in force. It is computed on any
 * thread, without a state of the core: while it is made it needs about three words per node for 64
 * jobs, and keeps a bit for each task of the jobs that differ. Immutable.
 */
public final class TaskDifference {
  /** One word of bits per node has room for so many jobs. */
  private static final int JOBS_AT_ONCE = Long.SIZE;

  private final Config before;
  private final Topology old;
  private final Config after;
  private final Topology next;

  /** By old node number: the new one, or -1; null: the nodes are the same. */
  private final int @Nullable [] newNodes;

  private final long nodesAdded;
  private final long nodesRemoved;
  private final ConfiguredLimits limits;
  private final UnsatisfiableJobs neverFits;
  private final List<OfJob> jobs = new ArrayList<>();

  /** By job: its new tasks, counted from the first node of its level. */
  private final Map<String, BitSet> tasks = new HashMap<>();

  /**
   * The tasks of a job. It has none while it or the scheduler is disabled or it has errors, since
   * none may start then.
   *
   * @param level of its tasks; of a job that is removed, the one that it has now
   */
  public record OfJob(
      String job, String level, long before, long after, long added, long removed) {}

  private TaskDifference(Config before, Topology old, Config after, Topology next) {
    this.before = before;
    this.old = old;
    this.after = after;
    this.next = next;
    boolean sameNodes = old == next || old.equals(next);
    int[] oldNodes = sameNodes ? null : UpdatePlan.match(old, next);
    newNodes = oldNodes == null ? null : UpdatePlan.inverse(oldNodes, old.size());
    nodesAdded = oldNodes == null ? 0 : missing(oldNodes);
    nodesRemoved = newNodes == null ? 0 : missing(newNodes);
    limits = ConfiguredLimits.of(after, next);
    neverFits =
        UnsatisfiableJobs.of(new JobTable(after, new TreeMap<>()), limits, after.settings(), next);
  }

  /**
   * Compares a configuration and its nodes with those in force.
   *
   * @param old the nodes in force
   * @param next the nodes that come with the new configuration, of its levels
   */
  public static TaskDifference of(Config before, Topology old, Config after, Topology next) {
    TaskDifference difference = new TaskDifference(before, old, after, next);
    TreeSet<String> names = new TreeSet<>(before.jobs().keySet());
    names.addAll(after.jobs().keySet());
    names.removeIf(difference::hasSameTasks);
    List<String> some = new ArrayList<>();
    for (String name : names) {
      some.add(name);
      if (some.size() == JOBS_AT_ONCE || name.equals(names.last())) {
        difference.compare(some);
        some.clear();
      }
    }
    return difference;
  }

  private static long missing(int[] matches) {
    long missing = 0;
    for (int match : matches) {
      missing += match < 0 ? 1 : 0;
    }
    return missing;
  }

  private void compare(List<String> names) {
    BitSet[] oldTasks = tasks(before, old, names);
    BitSet[] newTasks = tasks(after, next, names);
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      Job was = before.job(name);
      Job is = after.job(name);
      String oldLevel = was == null ? "" : before.settings().levels().name(was.level());
      String newLevel = is == null ? "" : after.settings().levels().name(is.level());
      long had = mayStart(before, was) ? oldTasks[i].cardinality() : 0;
      long has = mayStart(after, is) ? newTasks[i].cardinality() : 0;
      boolean mayKeep = had > 0 && has > 0 && oldLevel.equals(newLevel);
      long kept = mayKeep ? kept(oldTasks[i], newTasks[i]) : 0;
      if (is != null && !newTasks[i].isEmpty()) {
        int first = next.levelStart(is.level());
        tasks.put(name, newTasks[i].get(first, next.levelEnd(is.level())));
      }
      jobs.add(new OfJob(name, is == null ? oldLevel : newLevel, had, has, has - kept, had - kept));
    }
  }

  private static boolean mayStart(Config config, @Nullable Job job) {
    return job != null && config.settings().enabled() && job.canRun();
  }

  private long kept(BitSet oldTasks, BitSet newTasks) {
    IntUnaryOperator number = newNodes == null ? node -> node : node -> newNodes[node];
    return oldTasks.stream().map(number).filter(node -> node >= 0 && newTasks.get(node)).count();
  }

  /** Returns, by the order of the names, the nodes on which a job has tasks. */
  private static BitSet[] tasks(Config config, Topology topology, List<String> names) {
    SortedMap<String, Job> some = new TreeMap<>();
    for (String name : names) {
      Job job = config.job(name);
      if (job != null) {
        some.put(name, job);
      }
    }
    JobTable table = new JobTable(config.withJobs(some), new TreeMap<>());
    NodeEligibility eligible = NodeEligibility.of(topology, table);
    BitSet[] tasks = new BitSet[names.size()];
    for (int i = 0; i < tasks.length; i++) {
      tasks[i] = new BitSet();
      int job = table.find(names.get(i));
      int level = job < 0 ? -1 : table.levels[job];
      if (level >= 0 && level <= topology.levels().bottom()) {
        for (int node = topology.levelStart(level); node < topology.levelEnd(level); node++) {
          tasks[i].set(node, eligible.isOpen(job, node));
        }
      }
    }
    return tasks;
  }

  /** Returns whether it was computed for what is in force. */
  @SuppressWarnings("ReferenceEquality") // Each configuration and topology is a new object.
  public boolean isAgainst(Config config, Topology topology) {
    return before == config && old == topology;
  }

  public Config after() {
    return after;
  }

  public Topology newTopology() {
    return next;
  }

  /** Returns the configured limits of the new nodes. */
  public ConfiguredLimits limits() {
    return limits;
  }

  /** Returns the jobs of the new configuration that need more than any node has. */
  public UnsatisfiableJobs neverFits() {
    return neverFits;
  }

  public long nodesAdded() {
    return nodesAdded;
  }

  public long nodesRemoved() {
    return nodesRemoved;
  }

  /** Returns the new number of a node, or -1. */
  public int newNode(int oldNode) {
    return newNodes == null ? oldNode : newNodes[oldNode];
  }

  /**
   * Returns whether a job of both configurations has the same tasks in both; then {@link #tasks}
   * knows nothing of it.
   */
  public boolean hasSameTasks(String name) {
    Job was = before.job(name);
    Job is = after.job(name);
    return newNodes == null
        && was != null
        && is != null
        && before.shard().equals(after.shard())
        && mayStart(before, was) == mayStart(after, is)
        && was.level() == is.level()
        && was.filters().equals(is.filters())
        && was.scheduling().roles().equals(is.scheduling().roles());
  }

  /**
   * Returns the nodes on which a job will have tasks, also if they may not start, counted from the
   * first node of its level. Must not be modified.
   */
  public BitSet tasks(String job) {
    return tasks.getOrDefault(job, new BitSet());
  }

  /** Returns whether nodes differ. */
  public boolean hasOtherNodes() {
    return newNodes != null;
  }

  /** Returns the jobs whose tasks may differ, by name. */
  public List<OfJob> jobs() {
    return List.copyOf(jobs);
  }
}
