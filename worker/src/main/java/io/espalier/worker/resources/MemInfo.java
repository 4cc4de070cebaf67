package io.espalier.worker.resources;

import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The memory of the whole host, by {@code /proc/meminfo}.
 *
 * @param availableKb what new programs can get without swapping
 */
record MemInfo(long totalKb, long availableKb) {
  private static final Pattern TOTAL = Pattern.compile("(?m)^MemTotal:\\s*(\\d{1,15}) kB$");
  private static final Pattern AVAILABLE = Pattern.compile("(?m)^MemAvailable:\\s*(\\d{1,15}) kB$");

  /**
   * Reads it.
   *
   * @param root {@code /}, or its substitute in a test
   * @throws IOException when the file is not there, or lacks one of the two
   */
  static MemInfo read(Path root) throws IOException {
    String text = KernelFiles.text(root.resolve("proc/meminfo"));
    Matcher total = TOTAL.matcher(text);
    Matcher available = AVAILABLE.matcher(text);
    if (!total.find() || !available.find()) {
      throw new IOException("/proc/meminfo lacks MemTotal or MemAvailable");
    }
    return new MemInfo(Long.parseLong(total.group(1)), Long.parseLong(available.group(1)));
  }
}
