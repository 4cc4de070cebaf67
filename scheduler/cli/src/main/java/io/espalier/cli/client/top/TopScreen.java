package io.espalier.cli.client.top;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.Curses;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;

/**
 * The full-screen terminal of {@code top}. It restores the terminal however the process ends: on
 * close, and by a hook of the virtual machine on signals and failures.
 */
final class TopScreen implements AutoCloseable {
  private final Terminal terminal;
  private final Display display;
  private final Thread hook;
  private final String leave;
  private Size size = new Size(80, 24);
  private final AtomicBoolean given = new AtomicBoolean();
  private final AtomicBoolean resized = new AtomicBoolean(true);

  private TopScreen(Terminal terminal) {
    this.terminal = terminal;
    this.hook = new Thread(this::giveBack, "terminal");
    Runtime.getRuntime().addShutdownHook(hook);
    this.leave =
        Stream.of(Capability.cursor_normal, Capability.keypad_local, Capability.exit_ca_mode)
            .map(terminal::getStringCapability)
            .filter(Objects::nonNull)
            .map(Curses::tputs)
            .collect(Collectors.joining());
    terminal.enterRawMode();
    Attributes raw = terminal.getAttributes();
    // Disables two keys: a stopped process would leave its picture behind, and a thread dump would
    // spoil it.
    raw.setControlChar(Attributes.ControlChar.VSUSP, 0);
    raw.setControlChar(Attributes.ControlChar.VQUIT, 0);
    terminal.setAttributes(raw);
    terminal.puts(Capability.enter_ca_mode);
    terminal.puts(Capability.keypad_xmit);
    terminal.puts(Capability.cursor_invisible);
    terminal.flush();
    this.display = new Display(terminal, true);
    terminal.handle(Terminal.Signal.WINCH, signal -> resized.set(true));
  }

  /**
   * @throws IOException when standard input and output are not a suitable terminal
   */
  static TopScreen open() throws IOException {
    // Uses stty: the library's native code loses the speed of the line (docs/adr/0027-terminal.md).
    Terminal terminal =
        TerminalBuilder.builder()
            .system(true)
            .dumb(false)
            .provider(TerminalBuilder.PROP_PROVIDER_EXEC)
            // The virtual machine handles signals; its hooks restore the terminal.
            .nativeSignals(false)
            .build();
    return new TopScreen(terminal);
  }

  int width() {
    return size.getColumns();
  }

  int height() {
    return size.getRows();
  }

  boolean unicode() {
    return StandardCharsets.UTF_8.equals(terminal.encoding());
  }

  TopKeys keys() {
    return new TopKeys(millis -> terminal.reader().read(millis));
  }

  /** Returns true when the size has changed since the last call; everything is then redrawn. */
  boolean resized() {
    if (!resized.getAndSet(false)) {
      return false;
    }
    Size now = terminal.getSize();
    // Some terminals, such as serial lines, do not know their size.
    size = now.getColumns() > 0 && now.getRows() > 0 ? now : new Size(80, 24);
    display.resize(size.getRows(), size.getColumns());
    display.clear();
    terminal.puts(Capability.clear_screen);
    return true;
  }

  void draw(List<AttributedString> lines) {
    display.update(lines, 0);
  }

  private void giveBack() {
    if (given.compareAndSet(false, true)) {
      // Bypasses the terminal, whose own hook may have closed it already. That hook, or close,
      // restores its modes; doing both at once would interfere.
      System.out.print(leave);
      System.out.flush();
    }
  }

  @Override
  public void close() {
    giveBack();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
      terminal.close();
    } catch (IllegalStateException | IOException e) {
      // The process is ending already, or the terminal is gone: there is nothing to restore.
    }
  }
}
