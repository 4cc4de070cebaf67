package io.espalier.cli.run;

import io.espalier.cli.term.Terminal;
import io.espalier.core.api.view.JobProgress;
import io.espalier.core.scheduling.query.NextAttempt;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;

/**
 * Shows progress: redrawn in place on a terminal, as periodic plain lines elsewhere. Not
 * thread-safe.
 */
final class ProgressRenderer {
  private static final long PLAIN_MILLIS = 2_000;

  private final PrintStream out;
  private final Terminal terminal;
  private final ProgressLines lines;
  private final long startMillis = System.currentTimeMillis();
  private final long startNanos = System.nanoTime();
  private int drawn;
  private long nextPlain;
  private List<JobProgress> lastPlain = List.of();

  ProgressRenderer(PrintStream out, Terminal terminal) {
    this.out = out;
    this.terminal = terminal;
    this.lines = new ProgressLines(terminal.colours());
  }

  /**
   * @param next the back-off that ends first, if it is known
   */
  void show(List<JobProgress> jobs, Optional<NextAttempt> next) {
    long now = now();
    List<String> rendered = lines.render(jobs, next, now, terminal.width());
    if (terminal.interactive()) {
      redraw(rendered);
    } else if (now >= nextPlain) {
      nextPlain = now + PLAIN_MILLIS;
      print(jobs, rendered);
    }
  }

  /** Returns epoch milliseconds that never jump. */
  private long now() {
    return startMillis + (System.nanoTime() - startNanos) / 1_000_000;
  }

  /** Prints the final state, unconditionally. */
  void last(List<JobProgress> jobs) {
    List<String> rendered = lines.render(jobs, Optional.empty(), now(), terminal.width());
    if (terminal.interactive()) {
      redraw(rendered);
    } else {
      print(jobs, rendered);
    }
  }

  /** Prints a permanent line above the redrawn ones. */
  void print(String line) {
    if (drawn > 0) {
      out.print("\u001b[" + drawn + "A\u001b[J");
      drawn = 0;
    }
    out.println(line);
    out.flush();
  }

  private void redraw(List<String> rendered) {
    StringBuilder frame = new StringBuilder();
    if (drawn > 0) {
      frame.append("\u001b[").append(drawn).append('A');
    }
    for (String line : rendered) {
      frame.append("\u001b[2K").append(line).append('\n');
    }
    // Clears the lines below, because a job that left the configuration leaves a line behind.
    frame.append("\u001b[J");
    drawn = rendered.size();
    out.print(frame);
    out.flush();
  }

  /** Prints the lines if a count has changed: a time that passes is no news. */
  private void print(List<JobProgress> jobs, List<String> rendered) {
    if (!jobs.equals(lastPlain)) {
      rendered.forEach(out::println);
      out.flush();
      lastPlain = jobs;
    }
  }
}
