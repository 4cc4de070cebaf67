package io.espalier.worker.logs;

import io.espalier.core.logs.LogLine.Stream;
import java.nio.file.Path;

/**
 * Appends numbered lines for ever, and prints now and then how many of them are safe. To be killed.
 */
final class LogWriterProcess {
  private LogWriterProcess() {}

  public static void main(String[] args) throws Exception {
    LogLimits limits =
        new LogLimits(50_000, 100_000, 400_000, 1 << 20, 1 << 20, 64 << 20, 64 << 20);
    SegmentLogStore store = SegmentLogStore.open(Path.of(args[0]), limits);
    for (long i = Long.parseLong(args[1]); ; i++) {
      while (!store.hasRoom()) {
        Thread.onSpinWait();
      }
      store.append(Stream.STDOUT, "job" + i % 2, "node" + i % 7, System.currentTimeMillis(), i + "\n");
      if (i % 100 == 0) {
        System.out.println("safe " + (Long.parseLong(args[1]) + store.writtenLines()));
        if (System.out.checkError()) {
          return;
        }
      }
    }
  }
}
