package io.espalier.worker.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class KnownOptionsTest {
  private final AtomicInteger reads = new AtomicInteger();
  private final KnownOptions<String> options =
      new KnownOptions<>(
          json -> {
            reads.incrementAndGet();
            return json.toString();
          });

  private static Json.Obj options(int number) {
    return Json.object().put("port", number).build();
  }

  @Test
  void equalOptionsAreReadOnce() {
    String first = options.of(options(1));
    assertThat(options.of(options(1))).isSameAs(first);
    assertThat(options.of(options(2))).isNotEqualTo(first);
    assertThat(reads).hasValue(2);
  }

  @Test
  void onlySoManyAreRememberedAndThoseInUseLongest() {
    options.of(options(0));
    for (int i = 1; i <= 3 * KnownOptions.MOST; i++) {
      options.of(options(i));
      options.of(options(0));
      assertThat(options.size()).isLessThanOrEqualTo(KnownOptions.MOST);
    }
    assertThat(options.size()).isEqualTo(KnownOptions.MOST);
    assertThat(reads).as("options in use are read again").hasValue(3 * KnownOptions.MOST + 1);
    options.of(options(1));
    assertThat(reads).as("forgotten").hasValue(3 * KnownOptions.MOST + 2);
  }

  @Test
  void optionsThatCannotBeUsedAreNotRemembered() {
    KnownOptions<String> wrong =
        new KnownOptions<>(
            json -> {
              throw new IllegalArgumentException("no host");
            });
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> wrong.of(options(1))).hasMessage("no host");
    }
    assertThat(wrong.size()).isZero();
  }

  @Test
  void manyThreadsReadEachOptionsOnce() throws Exception {
    int threads = 4;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      CountDownLatch together = new CountDownLatch(threads);
      List<Future<List<String>>> seen = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        seen.add(
            pool.submit(
                () -> {
                  together.countDown();
                  together.await();
                  List<String> all = new ArrayList<>();
                  for (int i = 0; i < KnownOptions.MOST; i++) {
                    all.add(options.of(options(i)));
                  }
                  return all;
                }));
      }
      List<String> first = seen.get(0).get(30, TimeUnit.SECONDS);
      for (Future<List<String>> each : seen) {
        assertThat(each.get(30, TimeUnit.SECONDS)).isEqualTo(first);
      }
      assertThat(reads).hasValue(KnownOptions.MOST);
      assertThat(options.size()).isEqualTo(KnownOptions.MOST);
    } finally {
      pool.shutdownNow();
    }
  }
}
