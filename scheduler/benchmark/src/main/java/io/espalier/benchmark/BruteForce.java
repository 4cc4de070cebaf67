package io.espalier.benchmark;

import java.util.Arrays;
import java.util.Random;

/**
 * Bistro's released algorithm (docs/design/bistro.md#a-round) on the shape of {@link Scraping}, in
 * Java: each iteration rebuilds the counters from the running tasks, lists the candidates of every
 * job in random order, and takes one of each job in turn while any fits. For comparison only.
 */
final class BruteForce {
  private final int jobs;
  private final int leaves;

  /** 0 never tried, 1 running; by job and leaf. */
  private final byte[][] status;

  private final int[] hostFree;
  private final byte[] leafFree;
  private final int[][] candidates;
  private final Random random = new Random(7);

  BruteForce(int hosts, int jobs) {
    this.jobs = jobs;
    this.leaves = hosts * Scraping.SHARDS_PER_HOST;
    this.status = new byte[jobs][leaves];
    this.hostFree = new int[hosts];
    this.leafFree = new byte[leaves];
    this.candidates = new int[jobs][leaves];
  }

  /** One iteration; returns how many tasks it started. */
  int iterate() {
    Arrays.fill(hostFree, Scraping.HOST_LIMIT);
    Arrays.fill(leafFree, (byte) 1);
    int[] left = new int[jobs];
    for (int job = 0; job < jobs; job++) {
      for (int leaf = 0; leaf < leaves; leaf++) {
        if (status[job][leaf] == 1) {
          hostFree[leaf / Scraping.SHARDS_PER_HOST]--;
          leafFree[leaf]--;
        } else if (status[job][leaf] == 0) {
          candidates[job][left[job]++] = leaf;
        }
      }
      shuffle(candidates[job], left[job]);
    }
    int started = 0;
    for (boolean any = true; any; ) {
      any = false;
      for (int job = 0; job < jobs; job++) {
        while (left[job] > 0) {
          int leaf = candidates[job][--left[job]];
          int host = leaf / Scraping.SHARDS_PER_HOST;
          if (leafFree[leaf] > 0 && hostFree[host] > 0) {
            leafFree[leaf]--;
            hostFree[host]--;
            status[job][leaf] = 1;
            started++;
            any = true;
            break;
          }
        }
      }
    }
    return started;
  }

  private void shuffle(int[] items, int count) {
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int swap = items[i];
      items[i] = items[j];
      items[j] = swap;
    }
  }
}
