package io.espalier.cli.client;

import io.espalier.cli.term.TerminalInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A terminal of a given size at which nobody waits: after some pictures it says that it is over.
 */
final class FakeViewport implements TerminalInfo {
  private final int width;
  private final int height;
  private final int pictures;
  private final boolean colours;
  private final boolean asks;
  private final List<Duration> pauses = new ArrayList<>();

  FakeViewport(int width, int height, int pictures, boolean colours, boolean asks) {
    this.width = width;
    this.height = height;
    this.pictures = pictures;
    this.colours = colours;
    this.asks = asks;
  }

  /** Not a terminal; for so many pictures. */
  static FakeViewport plain(int pictures) {
    return new FakeViewport(0, 0, pictures, false, false);
  }

  List<Duration> pauses() {
    return pauses;
  }

  @Override
  public int width() {
    return width;
  }

  @Override
  public int height() {
    return height;
  }

  @Override
  public boolean colours() {
    return colours;
  }

  @Override
  public boolean asks() {
    return asks;
  }

  @Override
  public boolean pause(Duration time) {
    pauses.add(time);
    return pauses.size() < pictures;
  }
}
