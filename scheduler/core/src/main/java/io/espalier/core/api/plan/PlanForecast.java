package io.espalier.core.api.plan;

import io.espalier.core.api.view.JobEta;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a configuration would change in the use of the resources and in the ends of jobs.
 *
 * @param peaks of each resource that there is now or then
 * @param ends of the jobs with the most tasks left now or then
 * @param moreJobs number of the other jobs with tasks left
 */
public record PlanForecast(List<Peak> peaks, List<End> ends, int moreJobs) {
  public PlanForecast {
    peaks = List.copyOf(peaks);
    ends = List.copyOf(ends);
  }

  /**
   * The most slots of a resource that are in use at once, by all jobs that may start.
   *
   * @param level of its nodes
   * @param now null: there is no such resource
   * @param then null: there is none then
   */
  public record Peak(String level, String resource, @Nullable Use now, @Nullable Use then) {}

  /**
   * The use of a resource.
   *
   * @param used slots in use at once, at most
   * @param slots of all nodes together, as limits are in effect
   */
  public record Use(long used, long slots) {}

  /**
   * When a job ends.
   *
   * @param now null: it has no tasks left
   * @param then null: it has none left then
   */
  public record End(String job, @Nullable JobEta now, @Nullable JobEta then) {}
}
