package io.espalier.cli.client.top;

import io.espalier.cli.term.AnsiStyle;
import io.espalier.cli.term.HumanFormat;
import io.espalier.cli.term.TextWidth;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/**
 * Renders {@code top}: converts data and the size of the screen to lines. Does no I/O.
 *
 * @param width columns of the screen, at least 20
 * @param height its lines, at least 6
 * @param colours whether to use colours
 * @param unicode whether to draw bars with block characters
 */
record TopView(int width, int height, boolean colours, boolean unicode) {
  private static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;
  private static final int[] BAR_COLOURS = {
    AttributedStyle.GREEN,
    AttributedStyle.CYAN,
    AttributedStyle.RED,
    AttributedStyle.YELLOW,
    AttributedStyle.MAGENTA
  };

  /** Returns at most {@code height} lines of at most {@code width} columns. */
  List<AttributedString> lines(TopData data, TopState state, String server) {
    List<AttributedString> lines = new ArrayList<>();
    lines.add(heading(data, state, server));
    notice("brake", data.brakes(), lines);
    notice("window", data.windows(), lines);
    int room = height - 1 - lines.size();
    TopState.Subject opened = state.opened();
    if (opened != null) {
      detail(data, opened, lines, room);
    } else {
      lists(data, state, lines, room);
    }
    while (lines.size() < height - 1) {
      lines.add(AttributedString.EMPTY);
    }
    lines.add(keys(state));
    return lines;
  }

  private void lists(TopData data, TopState state, List<AttributedString> lines, int room) {
    // Both lists get the lines they need while that fits; otherwise each gets at least half.
    int jobsNeed = data.jobs().size() + 1;
    int nodesNeed = data.hot().isEmpty() ? 0 : data.hot().size() + 2;
    int half = room / 2;
    int forNodes = Math.min(nodesNeed, Math.max(half, room - jobsNeed));
    int forJobs = Math.min(jobsNeed, room - forNodes);
    jobs(data, state, lines, Math.max(1, forJobs - 1));
    int left = room - forJobs;
    if (nodesNeed > 0 && left >= 3) {
      lines.add(AttributedString.EMPTY);
      nodes(data, state, lines, left - 2);
    }
  }

  private AttributedString heading(TopData data, TopState state, String server) {
    long running = 0;
    long failed = 0;
    long cancelled = 0;
    for (TopData.Job job : data.jobs()) {
      running += job.running();
      failed += job.failed();
      cancelled += job.cancelled();
    }
    AttributedStringBuilder line = new AttributedStringBuilder();
    line.styled(bold(), "espalier");
    String when = data.atMillis() == 0 ? "connecting" : HumanFormat.time(data.atMillis());
    line.append("  ").append(HumanFormat.clean(server));
    line.append(state.frozen() ? "  [frozen]" : "");
    line.append("  ").append(when).append("  ");
    line.append(data.jobs().size() + " jobs, " + running + " running, ");
    line.styled(failed > 0 ? colour(AttributedStyle.RED) : PLAIN, failed + " failed");
    line.append(cancelled > 0 ? ", " + cancelled + " cancelled" : "");
    if (!data.problem().isEmpty()) {
      line = new AttributedStringBuilder();
      line.styled(colour(AttributedStyle.RED), HumanFormat.clean(data.problem()));
    }
    return cut(line.toAttributedString());
  }

  /** One line, however many there are of a kind, so that the lists keep their room. */
  private void notice(String kind, List<String> all, List<AttributedString> lines) {
    if (!all.isEmpty()) {
      String more = all.size() == 1 ? "" : " (and " + (all.size() - 1) + " more)";
      String text = kind + more + ": " + HumanFormat.clean(all.get(0));
      lines.add(cut(new AttributedString(text, colour(AttributedStyle.YELLOW))));
    }
  }

  private AttributedString keys(TopState state) {
    String text =
        state.open()
            ? "esc back  q quit  p " + (state.frozen() ? "go on" : "freeze")
            : "q quit  ↑↓ select  enter explain  tab "
                + (state.nodes() ? "jobs" : "nodes")
                + "  s sort ("
                + state.sort().title()
                + ")  p "
                + (state.frozen() ? "go on" : "freeze");
    return cut(new AttributedString(unicode ? text : text.replace("↑↓", "up/down"), dim()));
  }

  private void jobs(TopData data, TopState state, List<AttributedString> lines, int rows) {
    List<TopData.Job> jobs = state.sort().sorted(data.jobs());
    int first = firstShown(state.nodes() ? 0 : state.job(), jobs.size(), rows);
    List<TopData.Job> shown = jobs.subList(first, Math.min(jobs.size(), first + rows));
    boolean wide = width >= 76;
    int name = 4;
    for (TopData.Job job : jobs) {
      name = Math.max(name, TextWidth.width(HumanFormat.clean(job.name())));
    }
    // After the name: state 10, bar, share 5, five counts of 7, rate 9, left 7.
    int fixed = wide ? 10 + 5 + 4 * 7 + 9 + 7 : 5 + 2 * 7;
    name = Math.max(4, Math.min(name, wide ? Math.max(8, (width - fixed) / 2) : width / 4));
    int bar = Math.max(4, width - name - fixed - 2);
    AttributedStringBuilder title = new AttributedStringBuilder();
    title.append(TextWidth.pad("JOB", name, false)).append(wide ? " STATE    " : "").append("  ");
    title.append(TextWidth.pad("", bar, false)).append("    %");
    title.append(wide ? "    RUN  READY   WAIT   FAIL     RATE   LEFT" : "    RUN   FAIL");
    lines.add(cut(new AttributedString(title, bold())));
    for (int i = 0; i < shown.size(); i++) {
      TopData.Job job = shown.get(i);
      boolean selected = !state.nodes() && first + i == state.job();
      AttributedStringBuilder line = new AttributedStringBuilder();
      line.styled(
          selected ? AttributedStyle.INVERSE : PLAIN,
          TextWidth.pad(TextWidth.cut(HumanFormat.clean(job.name()), name), name, false));
      if (wide) {
        line.append(' ').styled(style(AnsiStyle.ofState(job.state())), padded(job.state(), 9));
      }
      line.append("  ");
      bar(line, job, bar);
      line.append(TextWidth.pad(percent(job), 5, true));
      line.append(count(job.running()));
      if (wide) {
        line.append(count(job.ready())).append(count(job.waiting()));
      }
      line.styled(job.failed() > 0 ? colour(AttributedStyle.RED) : PLAIN, count(job.failed()));
      if (wide) {
        line.append(TextWidth.pad(job.rateText(), 9, true))
            .append(TextWidth.pad(job.leftText(), 7, true));
      }
      lines.add(cut(line.toAttributedString()));
    }
    if (jobs.isEmpty()) {
      lines.add(new AttributedString("there are no jobs", dim()));
    }
  }

  private static String padded(String text, int width) {
    return TextWidth.pad(TextWidth.cut(text, width), width, false);
  }

  /** Formats any number in six columns, after a blank. */
  private static String count(long count) {
    String text =
        count < 1_000_000 ? Long.toString(count) : String.format(Locale.ROOT, "%.1fM", count / 1e6);
    return " " + TextWidth.pad(text, 6, true);
  }

  private static String percent(TopData.Job job) {
    return job.total() == 0 ? "-" : Long.toString(100 * job.done() / job.total());
  }

  /** Draws done, running, failed, waiting, cancelled and not yet started tasks side by side. */
  private void bar(AttributedStringBuilder line, TopData.Job job, int columns) {
    String glyphs = unicode ? "█▓▚░▒·" : "#>!:x.";
    long[] counts = {job.done(), job.running(), job.failed(), job.waiting(), job.cancelled()};
    int[] widths = shares(counts, job.total(), columns);
    int used = 0;
    for (int i = 0; i < counts.length; i++) {
      line.styled(colour(BAR_COLOURS[i]), glyphs.substring(i, i + 1).repeat(widths[i]));
      used += widths[i];
    }
    line.styled(dim(), glyphs.substring(5).repeat(columns - used));
  }

  /**
   * Distributes columns to counts: every non-zero count gets at least one, and together they fit.
   */
  static int[] shares(long[] counts, long total, int columns) {
    int[] widths = new int[counts.length];
    int used = 0;
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0 && total > 0) {
        widths[i] = (int) Math.max(1, (double) counts[i] / total * columns);
        used += widths[i];
      }
    }
    while (used > columns) {
      int widest = 0;
      for (int i = 1; i < widths.length; i++) {
        widest = widths[i] > widths[widest] ? i : widest;
      }
      widths[widest]--;
      used--;
    }
    return widths;
  }

  private void nodes(TopData data, TopState state, List<AttributedString> lines, int rows) {
    int first = firstShown(state.nodes() ? state.node() : 0, data.hot().size(), rows);
    List<TopData.Hot> shown = data.hot().subList(first, Math.min(data.hot().size(), first + rows));
    int name = Math.max(8, width / 4);
    int level = Math.max(6, width / 8);
    int resource = Math.max(8, width / 6);
    int bar = Math.max(4, width - name - level - resource - 27);
    lines.add(
        cut(
            new AttributedString(
                TextWidth.pad("HOTTEST NODES", name, false)
                    + "  "
                    + TextWidth.pad("LEVEL", level, false)
                    + "  "
                    + TextWidth.pad("LIMIT", resource, false)
                    + TextWidth.pad("USE", 11, true)
                    + TextWidth.pad("", bar + 2, false)
                    + "   WAITING",
                bold())));
    for (int i = 0; i < shown.size(); i++) {
      TopData.Hot node = shown.get(i);
      boolean selected = state.nodes() && first + i == state.node();
      boolean full = node.share() >= 1;
      AttributedStringBuilder line = new AttributedStringBuilder();
      line.styled(
          selected ? AttributedStyle.INVERSE : PLAIN, padded(HumanFormat.clean(node.name()), name));
      line.append("  ").append(padded(HumanFormat.clean(node.level()), level));
      line.append("  ").append(padded(HumanFormat.clean(node.resource()), resource));
      AttributedStyle use =
          full && node.waiting() > 0
              ? colour(AttributedStyle.RED)
              : full ? colour(AttributedStyle.YELLOW) : PLAIN;
      line.styled(use, TextWidth.pad(node.used() + "/" + node.limit(), 11, true));
      int filled = (int) Math.round(Math.min(1, node.share()) * bar);
      line.append("  ").styled(use, (unicode ? "█" : "#").repeat(filled));
      line.styled(dim(), (unicode ? "·" : ".").repeat(bar - filled));
      line.append("   ").append(count(node.waiting()));
      lines.add(cut(line.toAttributedString()));
    }
  }

  private void detail(
      TopData data, TopState.Subject opened, List<AttributedString> lines, int room) {
    String title =
        opened.level().isEmpty()
            ? "what the tasks of " + opened.name() + " wait for"
            : opened.level() + " " + opened.name();
    lines.add(AttributedString.EMPTY);
    lines.add(cut(new AttributedString(HumanFormat.clean(title), bold())));
    List<String> told = data.detail().isEmpty() ? List.of("…") : data.detail();
    for (String line : told.subList(0, Math.min(told.size(), Math.max(0, room - 2)))) {
      lines.add(cut(new AttributedString(HumanFormat.clean(line))));
    }
  }

  /** Returns the first row to show so that the selected row is visible. */
  static int firstShown(int selected, int size, int rows) {
    return Math.max(0, Math.min(size - rows, selected - rows + 1));
  }

  private AttributedString cut(AttributedString line) {
    return line.columnLength() <= width ? line : line.columnSubSequence(0, width);
  }

  private AttributedStyle bold() {
    return colours ? PLAIN.bold() : PLAIN;
  }

  private AttributedStyle dim() {
    return colours ? PLAIN.faint() : PLAIN;
  }

  private AttributedStyle colour(int colour) {
    return colours ? PLAIN.foreground(colour) : PLAIN;
  }

  private AttributedStyle style(AnsiStyle paint) {
    return switch (paint) {
      case RED -> colour(AttributedStyle.RED);
      case GREEN -> colour(AttributedStyle.GREEN);
      case YELLOW -> colour(AttributedStyle.YELLOW);
      case CYAN -> colour(AttributedStyle.CYAN);
      case BOLD -> bold();
      case DIM -> dim();
      case NONE -> PLAIN;
    };
  }
}
