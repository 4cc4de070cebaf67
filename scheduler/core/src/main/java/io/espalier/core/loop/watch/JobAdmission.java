package io.espalier.core.loop.watch;

import static java.util.stream.Collectors.toSet;

import io.espalier.core.api.view.JobProgress;
import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.JobCapacity;
import io.espalier.core.config.WholeJobDependency;
import io.espalier.core.outcome.JobCounts;
import io.espalier.core.outcome.JobStateRecord;
import io.espalier.core.scheduling.SchedulingCore;
import io.espalier.core.scheduling.gate.Gate;
import io.espalier.core.scheduling.gate.GateKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps jobs within the {@code capacity} of the settings: lets as many of them start tasks as it
 * says, and closes the others until there is a place. A job keeps its place until it has ended, or
 * is paused or disabled. Jobs wait in the order of their creation, then of their names, but after
 * those that they depend on, which could otherwise wait for each other.
 *
 * <p>Without {@code capacity} a step costs one comparison; with it, a pass over all jobs after each
 * change.
 */
public final class JobAdmission {
  private static final int MOST_NAMED = 20;

  private final SchedulingCore core;

  /** The jobs that have a place. */
  private Set<String> admitted = Set.of();

  private int waiting;
  private @Nullable String problem;
  private long seenState = -1;
  private long seenChanges = -1;
  private @Nullable JobCapacity seenCapacity;

  public JobAdmission(SchedulingCore core) {
    this.core = core;
  }

  /** The number of jobs that wait for a place. */
  public int waiting() {
    return waiting;
  }

  /** Names the jobs that came by a file beyond the capacity, for people; null: there are none. */
  public @Nullable String problem() {
    return problem;
  }

  /** Returns whether all changes so far are considered. */
  public boolean isCurrent() {
    JobCapacity capacity = core.config().settings().capacity();
    return capacity.equals(seenCapacity)
        && (!capacity.boundsJobs()
            || (seenState == core.stateNumber() && seenChanges == core.changes()));
  }

  /**
   * Opens and closes jobs.
   *
   * @return true when it has looked at them, so that views may have changed
   */
  public boolean step() {
    if (isCurrent()) {
      return false;
    }
    JobCapacity capacity = core.config().settings().capacity();
    List<Job> open = unfinished();
    Set<String> now = admit(open, capacity.runningJobs());
    List<Job> behind = open.stream().filter(job -> !now.contains(job.name())).toList();
    Set<String> waits = behind.stream().map(Job::name).collect(toSet());
    for (Gate gate : core.gates().of(GateKind.CAPACITY)) {
      if (!waits.contains(gate.name())) {
        core.gates().open(GateKind.CAPACITY, gate.name());
      }
    }
    String why =
        "\"running_jobs\" of \"capacity\" is "
            + capacity.runningJobs()
            + ", and others came before";
    for (Job job : behind) {
      if (core.gates().get(GateKind.CAPACITY, job.name()) == null) {
        core.gates().close(Gate.of(GateKind.CAPACITY, job.name(), why));
      }
    }
    admitted = now;
    waiting = behind.size();
    problem = excess(capacity, open, behind);
    seenCapacity = capacity;
    seenState = core.stateNumber();
    seenChanges = core.changes();
    return true;
  }

  /** Returns the jobs that need a place, in the order in which they get one. */
  private List<Job> unfinished() {
    List<Job> jobs = new ArrayList<>();
    for (Job job : core.config().jobs().values()) {
      if (job.canRun()
          && !core.gates().isEnded(job.name())
          && core.gates().get(GateKind.PAUSE, job.name()) == null
          && (!counts(job).isThrough() || mayVerify(job))) {
        jobs.add(job);
      }
    }
    jobs.sort(
        Comparator.comparing((Job job) -> !admitted.contains(job.name()))
            .thenComparingLong(Job::createTime)
            .thenComparing(Job::name));
    return jobs;
  }

  private boolean mayVerify(Job job) {
    int number = core.findJob(job.name());
    return number >= 0
        && core.tasks().awaitingVerification(number) > core.tasks().mayNotBeVerifiedYet(number);
  }

  private JobCounts counts(Job job) {
    int number = core.findJob(job.name());
    return number < 0 ? JobCounts.NONE : core.tasks().tally(number);
  }

  /** Goes through the jobs in turns, so that each comes after those that it depends on. */
  private static Set<String> admit(List<Job> open, int places) {
    Map<String, List<Integer>> waiters = new HashMap<>();
    open.forEach(job -> waiters.put(job.name(), new ArrayList<>()));
    if (places == 0) {
      return waiters.keySet();
    }
    int[] before = new int[open.size()];
    PriorityQueue<Integer> ready = new PriorityQueue<>();
    for (int i = 0; i < before.length; i++) {
      List<String> waitsFor = dependencies(open.get(i)).filter(waiters::containsKey).toList();
      for (String dependency : waitsFor) {
        waiters.computeIfAbsent(dependency, name -> new ArrayList<>()).add(i);
      }
      before[i] = waitsFor.size();
      if (before[i] == 0) {
        ready.add(i);
      }
    }
    Set<String> admitted = new HashSet<>();
    PriorityQueue<Integer> inNextTurn = new PriorityQueue<>();
    while (!ready.isEmpty() && admitted.size() < places) {
      int next = ready.remove();
      admitted.add(open.get(next).name());
      for (int waiter : waiters.getOrDefault(open.get(next).name(), List.of())) {
        if (--before[waiter] == 0) {
          (waiter > next ? ready : inNextTurn).add(waiter);
        }
      }
      if (ready.isEmpty()) {
        ready.addAll(inNextTurn);
        inNextTurn.clear();
      }
    }
    return admitted;
  }

  private static Stream<String> dependencies(Job job) {
    return Stream.concat(
        job.dependsOn().stream(), job.afterJobs().stream().map(WholeJobDependency::job));
  }

  /** Names the jobs that would have been refused, had they been saved one by one. */
  private @Nullable String excess(JobCapacity capacity, List<Job> open, List<Job> behind) {
    List<String> texts = new ArrayList<>();
    List<Job> inLine =
        capacity.runningJobs() > 0
            ? behind
            : open.stream().filter(job -> counts(job).running() == 0).toList();
    if (capacity.waitingJobs() > 0 && inLine.size() > capacity.waitingJobs()) {
      texts.add(
          inLine.size()
              + (inLine.size() == 1 ? " job waits" : " jobs wait")
              + ", \"waiting_jobs\" is "
              + capacity.waitingJobs()
              + ": "
              + names(inLine.subList(capacity.waitingJobs(), inLine.size())));
    }
    long tasks = 0;
    List<Job> beyond = new ArrayList<>();
    for (Job job : open) {
      if (capacity.waitingTasks() > 0 && tasks >= capacity.waitingTasks()) {
        beyond.add(job);
      }
      JobCounts counts = counts(job);
      tasks += counts.untried() + counts.left();
    }
    if (!beyond.isEmpty()) {
      texts.add(
          tasks
              + (tasks == 1 ? " task waits" : " tasks wait")
              + ", \"waiting_tasks\" is "
              + capacity.waitingTasks()
              + ": "
              + names(beyond));
    }
    return texts.isEmpty()
        ? null
        : "more than \"capacity\" allows; the jobs wait, none is dropped: "
            + String.join("; ", texts);
  }

  private static String names(List<Job> jobs) {
    String named = String.join(", ", jobs.stream().limit(MOST_NAMED).map(Job::name).toList());
    return jobs.size() <= MOST_NAMED
        ? named
        : named + " and " + (jobs.size() - MOST_NAMED) + " more";
  }

  /**
   * Returns why a new job is refused now; null: it is not. Whether workers are there, cordoned or
   * busy has no influence.
   *
   * @param config the newest configuration, which may not be in force yet
   * @param view the latest view
   */
  public static @Nullable String refusal(Config config, SchedulerView view) {
    JobCapacity capacity = config.settings().capacity();
    if (!capacity.boundsJobs()) {
      return null;
    }
    long open = 0;
    long idle = 0;
    long tasks = 0;
    for (Job job : config.jobs().values()) {
      JobProgress counts = view.progress().get(job.name());
      JobStateRecord jobState = view.jobStates().get(job.name());
      boolean isEnded = jobState != null && jobState.state().isEnd();
      boolean isThrough =
          counts != null
              && counts.running() + counts.waiting() + counts.ready() + counts.blocked() == 0;
      boolean isPaused = view.pauses().containsKey(job.name());
      if (job.canRun() && !isEnded && !isThrough && !isPaused) {
        open++;
        idle += counts == null || counts.running() == 0 ? 1 : 0;
        tasks += counts == null ? 0 : counts.waiting() + counts.ready() + counts.blocked();
      }
    }
    if (capacity.waitingJobs() > 0) {
      long inLine = capacity.runningJobs() > 0 ? Math.max(0, open - capacity.runningJobs()) : idle;
      boolean wouldWait = capacity.runningJobs() == 0 || open >= capacity.runningJobs();
      if (wouldWait && inLine >= capacity.waitingJobs()) {
        return inLine
            + (inLine == 1 ? " job waits" : " jobs wait")
            + " already, and \"waiting_jobs\" of \"capacity\" is "
            + capacity.waitingJobs();
      }
    }
    return capacity.waitingTasks() > 0 && tasks >= capacity.waitingTasks()
        ? tasks
            + (tasks == 1 ? " task waits" : " tasks wait")
            + " already, and \"waiting_tasks\" of \"capacity\" is "
            + capacity.waitingTasks()
        : null;
  }
}
