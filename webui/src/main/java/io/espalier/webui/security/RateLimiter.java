package io.espalier.webui.security;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Token buckets by key: so many at once, then so many a second. Keys that were not used for long
 * are forgotten, so that nobody can fill the memory by changing keys. For any thread.
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
   * @param burst how many at once
   * @param perSecond how many a second after that
   * @param nanos a clock that only goes forward
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
   * Takes some, all or none; more than there can be at once are taken as that many.
   *
   * @return 0 when taken, otherwise the seconds after which it is worth trying again, at least 1
   */
  public synchronized long take(String key, int count) {
    Bucket bucket = filled(key);
    double wanted = Math.min(count, burst);
    // Sums of fractions may end a hair below the whole number that they stand for.
    if (bucket.level + 1e-9 >= wanted) {
      bucket.level -= wanted;
      return 0;
    }
    return Math.max(1, (long) Math.ceil((wanted - bucket.level) / perSecond));
  }

  /** The seconds until one could be taken; 0: now. Takes none. */
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
