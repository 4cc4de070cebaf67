package io.espalier.core.forecast;

import java.util.List;
import java.util.Map;

/**
 * What one run of a {@link Simulation} has found. Durations count from the snapshot on, in
 * milliseconds.
 *
 * @param millis when the last task was over, or the horizon where that came first
 * @param isComplete whether nothing could happen any more; otherwise the horizon came first
 * @param starts number of invocations started
 * @param jobs by name, in the order of the names
 * @param use of each resource of the levels above the workers, and the tasks, at most {@link
 *     #SAMPLES} samples
 * @param hot the nodes whose slots were taken for the largest part of the time, that one first
 */
public record Forecast(
    long millis,
    boolean isComplete,
    long starts,
    Map<String, JobEnd> jobs,
    List<Sample> use,
    List<HotNode> hot) {
  static final int SAMPLES = 120;

  public Forecast {
    use = List.copyOf(use);
    hot = List.copyOf(hot);
  }

  /**
   * The end of a job.
   *
   * @param millis when its last task was over; 0: none was
   * @param left tasks that are not over, and never will be if the run is complete
   * @param starts number of invocations started
   * @param windowsMissed how many windows of the job, in which its tasks might have started, have
   *     closed while tasks were left; windows of nodes do not count
   */
  public record JobEnd(long millis, long left, long starts, long windowsMissed) {}

  /**
   * The tasks and the use of the resources at an instant.
   *
   * @param running tasks that run, of all jobs
   * @param left tasks that are not over, those that run included, of all jobs
   * @param parts slots in use of all slots of a resource, by its index
   */
  public record Sample(long millis, long running, long left, List<Double> parts) {
    public Sample {
      parts = List.copyOf(parts);
    }
  }

  /**
   * A node and one of its resources.
   *
   * @param part the mean part of its slots that was in use
   */
  public record HotNode(String level, String node, String resource, double part) {}
}
