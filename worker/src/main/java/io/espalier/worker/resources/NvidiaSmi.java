package io.espalier.worker.resources;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Runs {@code nvidia-smi} to get the cards and their processes (docs/design/bistro.md#measuring).
 * The tool may hang, fail or print anything, so its time and its output are limited.
 */
public final class NvidiaSmi {
  /** The time limit of one call. */
  public static final Duration TIMEOUT = Duration.ofSeconds(1);

  /** The value that disables the tool. */
  public static final String OFF = "off";

  static final List<String> GPU_ARGUMENTS =
      List.of(
          "--query-gpu=pci.bus_id,memory.total,memory.used,utilization.gpu,name",
          "--format=csv,noheader,nounits");
  static final List<String> PROCESS_ARGUMENTS =
      List.of("--query-compute-apps=pid,gpu_bus_id", "--format=csv,noheader,nounits");

  private static final int MAX_OUTPUT = 1 << 20;

  private final String program;
  private final Duration timeout;

  /**
   * @param program path of the tool; empty or {@link #OFF}: there are no cards
   */
  public NvidiaSmi(String program, Duration timeout) {
    this.program = program.equals(OFF) ? "" : program;
    this.timeout = timeout;
  }

  /** Returns the tool found in the search path, or a disabled one. */
  public static NvidiaSmi found(String searchPath) {
    for (String directory : searchPath.split(":", -1)) {
      Path path = Path.of(directory).resolve("nvidia-smi");
      if (path.isAbsolute() && Files.isExecutable(path)) {
        return new NvidiaSmi(path.toString(), TIMEOUT);
      }
    }
    return new NvidiaSmi("", TIMEOUT);
  }

  /** Returns the path of the tool, or {@link #OFF}. */
  String shown() {
    return isOn() ? program : OFF;
  }

  /** Returns whether the tool is enabled. */
  public boolean isOn() {
    return !program.isEmpty();
  }

  /**
   * Runs the tool twice. Blocks for at most two time limits.
   *
   * @throws IOException when it fails, takes too long or prints something that cannot be parsed
   */
  public GpuTable read() throws IOException {
    if (!isOn()) {
      return GpuTable.EMPTY;
    }
    return new GpuTable(gpus(output(GPU_ARGUMENTS)), processes(output(PROCESS_ARGUMENTS)));
  }

  /** Parses one card per line; the name is last and may contain anything. */
  static List<Gpu> gpus(String output) throws IOException {
    List<Gpu> gpus = new ArrayList<>();
    for (String line : output.lines().filter(l -> !l.isBlank()).toList()) {
      String[] parts = line.split(",", 5);
      if (parts.length != 5 || parts[4].isBlank()) {
        throw new IOException("not a line about a card: " + line);
      }
      gpus.add(
          new Gpu(
              parts[0].strip(),
              parts[4].strip(),
              amount(parts[1], line),
              amount(parts[2], line),
              amount(parts[3], line) / 100));
    }
    return gpus;
  }

  static Map<Long, Set<String>> processes(String output) throws IOException {
    Map<Long, Set<String>> cards = new HashMap<>();
    for (String line : output.lines().filter(l -> !l.isBlank()).toList()) {
      String[] parts = KernelFiles.split(line, ",", 2);
      try {
        cards.computeIfAbsent(Long.parseLong(parts[0]), pid -> new TreeSet<>()).add(parts[1]);
      } catch (NumberFormatException e) {
        throw new IOException("not a line about a process: " + line, e);
      }
    }
    return cards;
  }

  /** Parses an amount; brackets mean that the card does not report it. */
  private static double amount(String text, String line) throws IOException {
    String number = text.strip();
    if (number.startsWith("[") || number.equals("N/A")) {
      return 0;
    }
    try {
      double amount = Double.parseDouble(number);
      if (amount >= 0 && Double.isFinite(amount)) {
        return amount;
      }
    } catch (NumberFormatException e) {
      throw new IOException("not a line about a card: " + line, e);
    }
    throw new IOException("not a line about a card: " + line);
  }

  private String output(List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(program);
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    Output output = new Output(process.getInputStream());
    Thread reader = new Thread(output, "nvidia-smi-output");
    reader.setDaemon(true);
    reader.start();
    try {
      long deadline = System.nanoTime() + timeout.toNanos();
      boolean ended = process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS);
      // A child of the tool may hold the pipe open: then it counts as not ended.
      reader.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
      if (!ended || reader.isAlive()) {
        throw new IOException(program + " did not answer within " + timeout.toMillis() + " ms");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
      output.drop();
    }
    if (process.exitValue() != 0) {
      throw new IOException(program + " ended with code " + process.exitValue());
    }
    return output.text();
  }

  /** Collects output up to a limit. */
  private static final class Output implements Runnable {
    private final InputStream in;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private boolean tooLong;

    Output(InputStream in) {
      this.in = in;
    }

    @Override
    public void run() {
      byte[] chunk = new byte[8192];
      try {
        for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
          add(chunk, n);
        }
      } catch (IOException e) {
        // The pipe was closed: nothing more arrives.
        return;
      }
    }

    private synchronized void add(byte[] chunk, int length) {
      if (bytes.size() + length > MAX_OUTPUT) {
        tooLong = true;
      } else {
        bytes.write(chunk, 0, length);
      }
    }

    synchronized String text() throws IOException {
      if (tooLong) {
        throw new IOException("more than " + MAX_OUTPUT + " bytes of output");
      }
      return bytes.toString(StandardCharsets.UTF_8);
    }

    void drop() {
      try {
        in.close();
      } catch (IOException e) {
        // It was to be closed.
        return;
      }
    }
  }
}
