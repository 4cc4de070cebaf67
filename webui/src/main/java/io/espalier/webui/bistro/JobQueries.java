package io.espalier.webui.bistro;

import io.espalier.core.api.Query;
import io.espalier.core.api.SchedulerApi;
import io.espalier.core.api.view.Histogram;
import io.espalier.core.config.Job;
import io.espalier.core.json.Json;
import io.espalier.core.status.StatusBits;
import io.espalier.webui.security.SecretMask;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Answers {@code jobs}, {@code histogram}, {@code errors}, {@code refresh_time}. */
final class JobQueries {
  /**
   * The number of sample nodes per bucket, even if more are requested
   * (docs/design/bistro.md#reading-queries).
   */
  static final int MAX_SAMPLES = 10;

  private final SchedulerApi api;

  JobQueries(SchedulerApi api) {
    this.api = api;
  }

  void addTo(Map<String, BistroQuery> table) {
    table.put("jobs", this::jobs);
    table.put("histogram", this::histogram);
    table.put("errors", JobQueries::errors);
    table.put("refresh_time", JobQueries::refreshTime);
  }

  private CompletionStage<Json> jobs(Arguments arguments, Snapshot snapshot) {
    Json.Builder data = Json.object();
    for (Job job : requested(arguments, snapshot)) {
      data.put(job.name(), SecretMask.job(job, snapshot.config().settings(), snapshot.caller()));
    }
    return CompletableFuture.completedFuture(data.build());
  }

  private CompletionStage<Json> histogram(Arguments arguments, Snapshot snapshot) {
    long wanted =
        arguments.has("num_samples") ? arguments.integer("num_samples", 0, Integer.MAX_VALUE) : 0;
    int samples = (int) Math.min(wanted, MAX_SAMPLES);
    List<String> names = requested(arguments, snapshot).stream().map(Job::name).toList();
    if (names.isEmpty()) {
      // All requested jobs are unknown; an empty list would select all jobs.
      return CompletableFuture.completedFuture(histograms(List.of(), samples));
    }
    return api.ask(new Query.Histograms(names, samples))
        .thenApply(found -> histograms(found, samples));
  }

  private static Json histograms(List<Histogram> found, int samples) {
    Json.Builder counts = Json.object();
    Json.Builder nodes = Json.object();
    for (Histogram histogram : found) {
      Json.Builder countsByLevel = Json.object();
      Json.Builder nodesByLevel = Json.object();
      histogram
          .levels()
          .forEach(
              (level, buckets) -> {
                Json.Builder count = Json.object();
                Json.Builder node = Json.object();
                // Bits that differ here may be the same for clients of Bistro.
                Map<String, Long> sums = new LinkedHashMap<>();
                Map<String, List<String>> some = new LinkedHashMap<>();
                buckets.forEach(
                    (bits, bucket) -> {
                      String encoded = StatusBits.encode(StatusBits.inBistro(bits));
                      sums.merge(encoded, bucket.count(), Long::sum);
                      some.computeIfAbsent(encoded, e -> new ArrayList<>())
                          .addAll(bucket.samples());
                    });
                sums.forEach(count::put);
                some.forEach(
                    (encoded, names) ->
                        node.put(
                            encoded,
                            Json.strings(names.subList(0, Math.min(samples, names.size())))));
                countsByLevel.put(level, count.build());
                nodesByLevel.put(level, node.build());
              });
      counts.put(histogram.job(), countsByLevel.build());
      nodes.put(histogram.job(), nodesByLevel.build());
    }
    Json.Builder data = Json.object().put("histograms", counts.build());
    return samples == 0 ? data.build() : data.put("samples", nodes.build()).build();
  }

  private static CompletionStage<Json> errors(Arguments arguments, Snapshot snapshot) {
    Json.Builder data = Json.object();
    snapshot.view().errors().forEach(data::put);
    return CompletableFuture.completedFuture(data.build());
  }

  private static CompletionStage<Json> refreshTime(Arguments arguments, Snapshot snapshot) {
    // Histograms are updated with every change, so they are as old as the view.
    return CompletableFuture.completedFuture(Json.of(snapshot.view().publishedAtMillis() / 1000));
  }

  /** Returns the configured jobs among the requested ones, or all; skips unknown names. */
  private static Collection<Job> requested(Arguments arguments, Snapshot snapshot) {
    List<String> names = arguments.names("jobs");
    if (names.isEmpty()) {
      return snapshot.config().jobs().values();
    }
    List<Job> jobs = new ArrayList<>();
    for (String name : names) {
      Job job = snapshot.config().job(name);
      if (job != null) {
        jobs.add(job);
      }
    }
    return jobs;
  }
}
