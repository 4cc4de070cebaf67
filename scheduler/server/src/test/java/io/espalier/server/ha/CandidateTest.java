package io.espalier.server.ha;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CandidateTest {
  private static final Candidate SAMPLE =
      new Candidate("[::1]:8080", "10.0.0.1:6789", "host \"a\"", 42, 1_700_000_000_000L);

  @Test
  void itIsReadAsItWasWritten() {
    assertThat(Candidate.parse(SAMPLE.toJson())).contains(SAMPLE);
  }

  @Test
  void whatSomebodyElseWroteIsNoCandidate() {
    assertThat(Candidate.parse("")).isEmpty();
    assertThat(Candidate.parse("192.168.0.1")).isEmpty();
    assertThat(Candidate.parse("{\"http\": 1}")).isEmpty();
  }
}
