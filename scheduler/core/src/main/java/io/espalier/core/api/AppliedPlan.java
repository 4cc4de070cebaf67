package io.espalier.core.api;

import io.espalier.core.api.plan.ConfigPlan;
import io.espalier.core.config.source.JobVersion;
import java.util.List;

/**
 * A configuration that was applied: it is written to its source, and comes into force when that is
 * read again.
 *
 * @param jobs the versions of jobs that were saved or deleted; empty, with equal settings: nothing
 *     was different
 * @param settings whether settings were written
 * @param plan the plan as computed for applying
 */
public record AppliedPlan(List<JobVersion> jobs, boolean settings, ConfigPlan plan) {
  public AppliedPlan {
    jobs = List.copyOf(jobs);
  }
}
