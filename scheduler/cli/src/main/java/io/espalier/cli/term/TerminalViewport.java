package io.espalier.cli.term;

import java.time.Duration;
import java.util.Map;

/**
 * The terminal that the launcher found at standard output. It queries the size only on demand, and
 * again for each picture, because windows are resized.
 */
public final class TerminalViewport implements TerminalInfo {
  private final Map<String, String> environment;
  private final boolean terminal = Boolean.getBoolean("espalier.terminal.out");
  private Terminal.Size size = Terminal.Size.UNKNOWN;

  public TerminalViewport(Map<String, String> environment) {
    this.environment = environment;
  }

  private Terminal.Size size() {
    if (terminal && size.equals(Terminal.Size.UNKNOWN)) {
      size = Terminal.size(environment);
    }
    return size;
  }

  @Override
  public int width() {
    return size().columns();
  }

  @Override
  public int height() {
    return Terminal.detect(terminal, environment).interactive() ? size().lines() : 0;
  }

  @Override
  public boolean colours() {
    return Terminal.detect(terminal, environment).colours();
  }

  @Override
  public boolean asks() {
    return terminal && Boolean.getBoolean("espalier.terminal.in");
  }

  @Override
  public boolean pause(Duration time) {
    size = Terminal.Size.UNKNOWN;
    return TerminalInfo.slept(time);
  }
}
