package io.espalier.worker.resources;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Reads the small files of {@code /proc} and {@code /sys}, and parses the values in them. */
final class KernelFiles {
  private static final int MAX_BYTES = 256 * 1024;
  private static final int MAX_NUMBER = 1 << 20;

  private KernelFiles() {}

  /**
   * Returns the text without blanks at its ends.
   *
   * @throws IOException when there is no such file, or it is larger than any kernel file
   */
  static String text(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_BYTES);
      if (bytes.length == MAX_BYTES) {
        throw new IOException(file + " is larger than " + MAX_BYTES + " bytes");
      }
      return new String(bytes, StandardCharsets.ISO_8859_1).strip();
    }
  }

  /**
   * @throws IOException naming the file when it does not hold one whole number
   */
  static long wholeNumber(Path file) throws IOException {
    String text = text(file);
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IOException(file + " does not hold a whole number: " + shown(text), e);
    }
  }

  /**
   * @throws IOException naming the file when it does not hold one finite number
   */
  static double number(Path file) throws IOException {
    String text = text(file);
    try {
      double value = Double.parseDouble(text);
      if (Double.isFinite(value)) {
        return value;
      }
      throw new IOException(file + " does not hold a finite number: " + shown(text));
    } catch (NumberFormatException e) {
      throw new IOException(file + " does not hold a number: " + shown(text), e);
    }
  }

  /**
   * Parses numbers as the kernel lists them, {@code 0,2-4}; an empty text is the empty set.
   *
   * @throws IOException when the text has another form
   */
  static Set<Integer> intSet(String text) throws IOException {
    Set<Integer> numbers = new TreeSet<>();
    if (text.isBlank()) {
      return numbers;
    }
    for (String range : text.strip().split(",", -1)) {
      int dash = range.indexOf('-');
      int first = small(dash < 0 ? range : range.substring(0, dash), text);
      int last = dash < 0 ? first : small(range.substring(dash + 1), text);
      if (last < first) {
        throw new IOException("the range " + range + " is reversed in " + shown(text));
      }
      for (int i = first; i <= last; i++) {
        numbers.add(i);
      }
    }
    return numbers;
  }

  private static int small(String number, String all) throws IOException {
    boolean digits = !number.isEmpty() && number.length() < 8;
    for (int i = 0; i < number.length(); i++) {
      digits &= number.charAt(i) >= '0' && number.charAt(i) <= '9';
    }
    if (!digits || Integer.parseInt(number) > MAX_NUMBER) {
      throw new IOException("not a list of numbers and ranges like 0,2-4: " + shown(all));
    }
    return Integer.parseInt(number);
  }

  /**
   * Returns the parts of a line between separators.
   *
   * @throws IOException when the line has fewer parts than {@code count}
   */
  static String[] split(String line, String separator, int count) throws IOException {
    String[] parts = line.split(Pattern.quote(separator), -1);
    if (parts.length != count) {
      throw new IOException(
          "expected " + count + " values, found " + parts.length + ": " + shown(line));
    }
    for (int i = 0; i < count; i++) {
      parts[i] = parts[i].strip();
    }
    return parts;
  }

  private static String shown(String text) {
    return '"' + (text.length() > 80 ? text.substring(0, 80) + "…" : text) + '"';
  }
}
