package io.espalier.webui.security;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Token buckets by key: a burst, and a sustained rate per second. It forgets keys that have not
 * been used for long, so that nobody can fill the memory by changing keys. Thread-safe.
 */
public final class RateLimiter {
  private static final int MOST_KEYS = 10_000;

  private final double burst;
  private final double perSecond;
  private final LongSupplier nanos;
  private final Map<String, Bucket> buckets =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Bucket> eldest) {
          return size() > MOST_KEYS;
        }
      };

  private static final class Bucket {
    private double level;
    private long at;

    Bucket(double level, long at) {
      this.level = level;
      this.at = at;
    }
  }

  /**
   * @param burst maximum number at once
   * @param perSecond sustained rate
   * @param nanos a monotonic clock
   */
  public RateLimiter(int burst, double perSecond, LongSupplier nanos) {
    if (burst < 1 || !(perSecond > 0)) {
      throw new IllegalArgumentException(burst + " at once, " + perSecond + " a second");
    }
    this.burst = burst;
    this.perSecond = perSecond;
    this.nanos = nanos;
  }

  /**
   * Takes all of the tokens or none; a count above the burst is reduced to it.
   *
   * @return 0 when taken, otherwise the seconds after which a retry makes sense, at least 1
   */
  public synchronized long take(String key, int count) {
    Bucket bucket = filled(key);
    double wanted = Math.min(count, burst);
    // Sums of fractions may end slightly below the exact whole number.
    if (bucket.level + 1e-9 >= wanted) {
      bucket.level -= wanted;
      return 0;
    }
    return Math.max(1, (long) Math.ceil((wanted - bucket.level) / perSecond));
  }

  /** Returns the seconds until one token is available; 0: now. Takes none. */
  public synchronized long wait(String key) {
    if (!buckets.containsKey(key)) {
      return 0;
    }
    Bucket bucket = filled(key);
    return bucket.level + 1e-9 >= 1
        ? 0
        : Math.max(1, (long) Math.ceil((1 - bucket.level) / perSecond));
  }

  private Bucket filled(String key) {
    long now = nanos.getAsLong();
    Bucket bucket = buckets.computeIfAbsent(key, k -> new Bucket(burst, now));
    bucket.level = Math.min(burst, bucket.level + (now - bucket.at) / 1e9 * perSecond);
    bucket.at = now;
    return bucket;
  }
}
