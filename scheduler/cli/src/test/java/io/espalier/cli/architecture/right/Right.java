package io.espalier.cli.architecture.right;

import io.espalier.cli.architecture.left.Left;
import java.util.List;

/** The other half. */
public record Right(List<Left> left) {
  /** Closes the cycle. */
  public Left first() {
    return left.get(0);
  }
}
