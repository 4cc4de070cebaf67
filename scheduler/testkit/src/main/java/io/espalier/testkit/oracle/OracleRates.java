package io.espalier.testkit.oracle;

import io.espalier.core.api.view.Explanation.Kind;
import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.StartRate;
import io.espalier.core.topology.Topology;
import io.espalier.testkit.oracle.Oracle.Failure;
import io.espalier.testkit.oracle.Oracle.Place;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Limits on running tasks, and token buckets as exact decimal numbers of tokens, by name. */
final class OracleRates {
  private static final String JOB = "a job";

  private final Map<Place, Bucket> buckets = new HashMap<>();
  private boolean started;
  private long begun;
  private long now;

  /** The content of a bucket at one instant, and whether it waits for a tick with a token. */
  private final class Bucket {
    StartRate rate;
    BigDecimal tokens = BigDecimal.ZERO;
    long since;
    boolean isEmpty = true;

    Bucket(StartRate rate, long since) {
      this.rate = rate;
      this.since = since;
      tick();
    }

    BigDecimal at(long instant) {
      BigDecimal gained =
          BigDecimal.valueOf(rate.perSecond())
              .multiply(BigDecimal.valueOf(instant - since))
              .movePointLeft(3);
      return tokens.add(gained).min(BigDecimal.valueOf(rate.burst()));
    }

    boolean hasNone(long instant) {
      return at(instant).compareTo(BigDecimal.ONE) < 0;
    }

    void charge() {
      tokens = at(now).subtract(BigDecimal.ONE);
      since = now;
      isEmpty = hasNone(now);
    }

    void tick() {
      isEmpty = isEmpty && hasNone(now / 10 * 10);
    }

    void change(StartRate next) {
      if (!rate.equals(next)) {
        // Fractions of a token are whole multiples of the inflow of one millisecond.
        int digits = BigDecimal.valueOf(next.perSecond()).stripTrailingZeros().scale();
        tokens = at(now).setScale(3 + Math.max(0, digits), RoundingMode.DOWN);
        tokens = tokens.min(BigDecimal.valueOf(next.burst()));
        since = now;
        rate = next;
        isEmpty |= hasNone(now);
      }
    }
  }

  void advance(long nowMillis) {
    now = nowMillis;
    if (!started) {
      buckets.values().forEach(bucket -> bucket.since = now);
      started = true;
    }
    buckets.values().forEach(Bucket::tick);
  }

  void apply(Config config, Topology topology) {
    Map<Place, StartRate> rates = new HashMap<>();
    for (Job job : config.jobs().values()) {
      job.scheduling().startRate().ifPresent(rate -> rates.put(ofJob(job.name()), rate));
    }
    config
        .settings()
        .rules()
        .startRates()
        .forEach(
            (level, rate) ->
                OracleTree.names(topology, level)
                    .forEach(n -> rates.put(new Place(topology.levels().name(level), n), rate)));
    buckets.keySet().retainAll(rates.keySet());
    rates.forEach(
        (place, rate) ->
            buckets
                .computeIfAbsent(place, p -> new Bucket(rate, p.level().equals(JOB) ? now : begun))
                .change(rate));
  }

  /** An update begins: from now on nodes that it adds gain tokens. */
  void begin() {
    begun = now;
  }

  private static Place ofJob(String name) {
    return new Place(JOB, name);
  }

  /** A task was started, and not only registered as running. */
  void started(String job, List<Place> path) {
    List<Place> charged = new ArrayList<>(path);
    charged.add(ofJob(job));
    charged.stream().map(buckets::get).filter(b -> b != null).forEach(Bucket::charge);
  }

  List<Failure> ofJob(Job job, long running, int cap) {
    List<Failure> failures = new ArrayList<>();
    int configured = job.scheduling().maxConcurrent();
    int most = Math.min(configured > 0 ? configured : Integer.MAX_VALUE, cap);
    if (running >= most) {
      failures.add(new Failure(Kind.MAX_CONCURRENT, "", ""));
    }
    Bucket bucket = buckets.get(ofJob(job.name()));
    if (bucket != null && bucket.isEmpty) {
      failures.add(new Failure(Kind.START_RATE, "", ""));
    }
    return failures;
  }

  List<Failure> ofNode(Place place) {
    Bucket bucket = buckets.get(place);
    return bucket != null && bucket.isEmpty
        ? List.of(new Failure(Kind.START_RATE, place.node(), ""))
        : List.of();
  }
}
