package io.espalier.server.remote;

import io.espalier.core.protocol.ProtocolTimers;

/** TestTimers for tests: a worker is lost after 3.5 seconds. */
final class TestTimers {
  static final ProtocolTimers SHORT =
      new ProtocolTimers(
          300, 250, 2_500, 1_200, 300, 400, 1_000, 700, 1_000, 5_000, 100, 1_000, 100, 1_000,
          3_500);

  private TestTimers() {}
}
