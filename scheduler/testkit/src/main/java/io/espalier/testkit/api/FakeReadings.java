package io.espalier.testkit.api;

import io.espalier.core.api.Query;
import io.espalier.core.api.RefusedException;
import io.espalier.core.api.ResourceUse;
import io.espalier.core.api.group.GroupKindView;
import io.espalier.core.api.group.GroupPage;
import io.espalier.core.api.view.JobActivity;
import io.espalier.core.api.view.JobEta;
import io.espalier.core.api.view.QueueView;
import io.espalier.core.config.Job;
import io.espalier.core.notification.NotifierView;
import java.util.Collections;
import java.util.List;
import java.util.OptionalDouble;

/** What a {@link FakeScheduler} measures and forecasts: the same in every test. */
final class FakeReadings {
  private FakeReadings() {}

  static List<GroupKindView> groupKinds() {
    return List.of(
        new GroupKindView("replset", "host", "attribute:replset", 1, 2, 1, 1, 1, 1, 4, 3));
  }

  static GroupPage groups(Query.Groups query) {
    if (!query.kind().equals("replset")) {
      throw new RefusedException(
          RefusedException.Reason.UNKNOWN, "there is no kind \"" + query.kind() + "\"");
    }
    return new GroupPage(
        List.of(
            new GroupPage.Group(
                "rs-1",
                1,
                2,
                1,
                List.of(
                    new GroupPage.Member("h1", 2, "backup", "d11"),
                    new GroupPage.Member("h2", 0, "", "")))),
        "");
  }

  static List<NotifierView> notifiers() {
    return List.of(
        new NotifierView(
            "ops",
            "webhook",
            "https://hooks.example/{secret}",
            2,
            1_700_000_000_000L,
            5,
            3,
            1,
            1_700_000_001_000L,
            1_699_999_000_000L,
            "answered with status 500"),
        new NotifierView(
            "pager",
            "webhook",
            "https://pager.example/v2",
            0,
            0,
            1,
            0,
            0,
            0,
            1_699_999_000_000L,
            ""));
  }

  static List<ResourceUse> resources() {
    return List.of(new ResourceUse("host", "slots", 3, 10));
  }

  static List<QueueView> queues() {
    return List.of(
        new QueueView(
            "etl",
            0.5,
            OptionalDouble.empty(),
            3,
            2,
            1,
            40,
            0.25,
            0.125,
            0.0625,
            1,
            List.of(new QueueView.Held("slots", 3, 5, 12), new QueueView.Held("locks", 1, -1, 4))));
  }

  static JobEta eta(Job job, long nowMillis) {
    JobEta.Bottleneck narrow =
        new JobEta.Bottleneck(JobEta.Kind.RESOURCE, "host", "h1", "slots", "", 2, 30, 40);
    return new JobEta(job.name(), nowMillis, 7, 2, 90, 120, narrow);
  }

  /**
   * Returns what a job has done in the last minutes.
   *
   * @param job empty: all jobs
   */
  static JobActivity activity(String job, long nowMillis) {
    List<Integer> counts = Collections.nCopies(JobActivity.MINUTES, 3);
    return new JobActivity(
        job,
        nowMillis,
        new JobActivity.Minutes(0, counts, counts, counts),
        job.isEmpty() ? -1 : 2_000,
        job.isEmpty() ? -1 : 5_000,
        List.of(new JobActivity.Straggler("backup", "d11", nowMillis - 60_000, 5_000)),
        1);
  }
}
