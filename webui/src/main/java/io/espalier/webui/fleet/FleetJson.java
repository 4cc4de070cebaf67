package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import io.espalier.webui.fleet.poll.Counts;
import io.espalier.webui.fleet.poll.FleetSchedulerState;
import io.espalier.webui.fleet.poll.FleetSchedulerView;
import io.espalier.webui.fleet.poll.FleetView;
import io.espalier.webui.fleet.poll.SchedulerSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes the answers of the API of many schedulers as JSON. */
final class FleetJson {
  private static final int MOST_HOSTS = 100;
  private static final int MOST_VALUES = 5;
  private static final int MOST_HINDERED = 20;

  private FleetJson() {}

  /** Encodes the number of schedulers by state, and the age of their data. */
  static Json.Obj schedulers(FleetView view) {
    Json.Builder states = Json.object();
    view.states().forEach((state, count) -> states.put(state.word(), count));
    long oldest = 0;
    int old = 0;
    for (FleetSchedulerView host : view.hosts()) {
      if (host.summary() != null) {
        oldest = oldest == 0 ? host.answeredAtMillis() : Math.min(oldest, host.answeredAtMillis());
        old += host.state() == FleetSchedulerState.ANSWERED ? 0 : 1;
      }
    }
    Json.Builder json =
        Json.object()
            .put("total", view.hosts().size())
            .put("states", states.build())
            .put("same_scheduler", view.sameProcess().size())
            .put("from_memory", old);
    return (oldest > 0 ? json.put("oldest_answer_ms", oldest) : json).build();
  }

  static Json.Obj list(Fleet.Listed list) {
    List<Json> problems = new ArrayList<>();
    list.problems().stream()
        .limit(MOST_HOSTS)
        .forEach(problem -> problems.add(Json.of(problem.toString())));
    return Json.object()
        .put("source", list.source())
        .put("at_ms", list.atMillis())
        .put("problems", new Json.Arr(problems))
        .build();
  }

  /**
   * Encodes one scheduler.
   *
   * @param sameAs id of the address under which it counts, or null
   */
  static Json.Obj scheduler(FleetSchedulerView host, @Nullable String sameAs) {
    Json.Builder json = known(host).put("url", host.address().uri().toString());
    if (sameAs != null) {
      json.put("same_as", sameAs);
    }
    SchedulerSummary summary = host.summary();
    if (summary == null) {
      return json.build();
    }
    Counts counts = Counts.NONE;
    for (SchedulerSummary.Job job : summary.jobs()) {
      counts = counts.plus(job.counts());
    }
    return json.put("took_ms", host.tookMillis())
        .put("version", summary.version())
        .put("runner", summary.runner())
        .put("nodes", summary.nodes())
        .put("jobs", summary.jobs().size())
        .put("running", summary.runningTotal())
        .put("troubles", summary.troubles().size())
        .put("config_in_force", summary.configInForce())
        .put("progress", counts.json())
        .build();
  }

  private static Json.Builder known(FleetSchedulerView host) {
    Json.Builder json =
        Json.object()
            .put("id", host.id())
            .put("name", host.address().name())
            .put("state", host.state().word());
    if (!host.detail().isEmpty()) {
      json.put("detail", host.detail());
    }
    if (host.triedAtMillis() > 0) {
      json.put("tried_at_ms", host.triedAtMillis());
    }
    if (host.answeredAtMillis() > 0) {
      json.put("answered_at_ms", host.answeredAtMillis());
    }
    return json;
  }

  /** Encodes the summary of one job over all schedulers. */
  static Json.Builder job(AggregatedJob job) {
    int memory = 0;
    String problem = "";
    int pastDeadline = 0;
    for (AggregatedJob.Member member : job.members()) {
      memory += member.host().state() == FleetSchedulerState.ANSWERED ? 0 : 1;
      pastDeadline += member.job().pastDeadline() ? 1 : 0;
      if (problem.isEmpty()) {
        problem = member.job().problem();
      }
    }
    Json.Builder json =
        Json.object()
            .put("name", job.name())
            .put("owner", most(job, "owner"))
            .put("level", most(job, "level"))
            .put("priority", most(job, "priority"))
            .put("schedulers", job.members().size())
            .put("from_memory", memory)
            .put("enabled_on", job.count("enabled", "true"))
            .put("paused_on", job.count("paused", "true"))
            .put("failed_on", job.inState("failed"))
            .put("stuck_on", job.inState("stuck"))
            .put("halted_on", job.inState("halted"))
            .put("hindered_on", job.hinderedOn())
            .put("tasks_hindered", job.members().stream().mapToLong(m -> m.job().hindered()).sum())
            .put("succeeded_on", job.inState("succeeded"))
            .put("invalid_on", job.count("valid", "false"))
            .put("past_deadline_on", pastDeadline)
            .put("variants", job.configs().size())
            .put("differing_on", job.differing())
            .put("tied", job.isTied())
            .put("owners", several(job, "owner"))
            .put("levels", several(job, "level"))
            .put("progress", job.counts().json());
    double rate = job.ratePerSecond();
    if (rate >= 0) {
      json.put("rate_per_second", Math.round(rate * 1000) / 1000.0);
      Counts c = job.counts();
      long left = c.running() + c.waiting() + c.ready();
      if (rate > 0 && left > 0 && job.hinderedOn() == 0) {
        json.put("seconds_left", Math.round(left / rate));
      }
    }
    return problem.isEmpty() ? json : json.put("problem", problem);
  }

  private static String most(AggregatedJob job, String attribute) {
    return job.attributes().getOrDefault(attribute, List.of()).get(0).value();
  }

  /** Returns the most frequent values of an attribute, at most {@link #MOST_VALUES}. */
  private static Json.Arr several(AggregatedJob job, String attribute) {
    return Json.strings(
        job.attributes().getOrDefault(attribute, List.of()).stream()
            .map(ValueGroup::value)
            .limit(MOST_VALUES)
            .toList());
  }

  /** Encodes the values of a job's attributes with their schedulers. */
  static Json attributes(AggregatedJob job) {
    List<Json> list = new ArrayList<>();
    job.attributes()
        .forEach(
            (name, shares) -> {
              List<Json> values = new ArrayList<>();
              shares.stream().limit(MOST_HOSTS).forEach(share -> values.add(share(share).build()));
              list.add(
                  Json.object()
                      .put("name", name)
                      .put("agreed", shares.size() == 1)
                      .put("values", new Json.Arr(values))
                      .build());
            });
    return new Json.Arr(list);
  }

  private static Json.Builder share(ValueGroup share) {
    return Json.object()
        .put("value", share.value())
        .put("count", share.hosts().size())
        .put("hosts", Json.strings(share.hosts().stream().limit(MOST_HOSTS).toList()));
  }

  /**
   * Encodes one variant of a job's settings.
   *
   * @param job the job with all of its variants
   * @param majority the most frequent settings; null when unknown
   * @param settings the settings of this variant; null when unknown
   */
  static Json variant(
      AggregatedJob job,
      ValueGroup share,
      boolean isMajority,
      @Nullable Json majority,
      @Nullable Json settings) {
    Json owners =
        Json.strings(
            job.members().stream()
                .filter(member -> member.job().configHash().equals(share.value()))
                .map(member -> member.job().owner())
                .distinct()
                .limit(MOST_HOSTS)
                .toList());
    Json.Builder json =
        Json.object()
            .put("hash", share.value())
            .put("owners", owners)
            .put("majority", isMajority)
            .put("count", share.hosts().size())
            .put("hosts", Json.strings(share.hosts().stream().limit(MOST_HOSTS).toList()))
            .putIfPresent("settings", settings);
    if (!isMajority && majority != null && settings != null) {
      List<Json> changes = new ArrayList<>();
      JsonDiff.of(majority, settings, MOST_HOSTS).forEach(change -> changes.add(change.json()));
      json.put("differences", new Json.Arr(changes));
    }
    return json.build();
  }

  /** Encodes the job on one scheduler. */
  static Json member(AggregatedJob.Member member, String majorityHash) {
    SchedulerSummary.Job job = member.job();
    Json.Builder json =
        known(member.host())
            .put("enabled", job.enabled())
            .put("valid", job.valid())
            .put("paused", job.paused())
            .put("differs", !job.configHash().equals(majorityHash))
            .put("progress", job.counts().json());
    if (!job.pauseReason().isEmpty()) {
      json.put("pause_reason", job.pauseReason());
    }
    if (!job.state().isEmpty()) {
      json.put("job_state", job.state());
    }
    if (!job.stateReason().isEmpty()) {
      json.put("job_state_reason", job.stateReason());
    }
    if (job.tasksNever() > 0) {
      json.put("tasks_never", job.tasksNever()).put("never_reason", job.neverReason());
    }
    if (!job.problem().isEmpty()) {
      json.put("problem", job.problem());
    }
    return json.build();
  }

  /** Encodes the first of these jobs. */
  static Json hindered(List<HinderedJob> jobs) {
    return new Json.Arr(jobs.stream().limit(MOST_HINDERED).<Json>map(HinderedJob::json).toList());
  }

  static Json troubles(List<FleetProblems.Trouble> troubles) {
    List<Json> list = new ArrayList<>();
    troubles.forEach(trouble -> list.add(trouble.json()));
    return new Json.Arr(list);
  }

  /** Returns the sum over all jobs. */
  static Counts sum(Map<String, AggregatedJob> jobs) {
    Counts counts = Counts.NONE;
    for (AggregatedJob job : jobs.values()) {
      counts = counts.plus(job.counts());
    }
    return counts;
  }
}
