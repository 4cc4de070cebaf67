package io.espalier.worker.process.output;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.SubprocessOptions;
import io.espalier.core.logs.LogLine;
import io.espalier.core.logs.Redactor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * P15 of docs/design/bistro.md#conformance-of-tasks: what is read becomes exact lines, and a pause
 * holds to the line.
 */
class TaskOutputTest {
  private static final SubprocessOptions D = SubprocessOptions.DEFAULT;

  private final List<String> did = new ArrayList<>();
  private final AtomicBoolean room = new AtomicBoolean(true);

  private final TaskOutput.Sink sink =
      new TaskOutput.Sink() {
        @Override
        public void line(LogLine.Stream stream, String text) {
          did.add(text.strip());
        }

        @Override
        public void pause(Channel channel) {
          did.add("pause " + channel);
        }

        @Override
        public void resume(Channel channel) {
          did.add("resume " + channel);
        }

        @Override
        public void goOnAfter(long nanos, Channel channel) {
          did.add("wait " + channel);
        }
      };

  /** One increment of the quota, and none after it for as long as the test takes. */
  private TaskOutput output(int lines) {
    SubprocessOptions options = D.withQuota(600_000, lines);
    TaskOutput output = new TaskOutput(options, Redactor.of(List.of()), room::get, sink);
    output.opened(Channel.STDOUT);
    output.opened(Channel.STDERR);
    return output;
  }

  private static void write(TaskOutput output, Channel channel, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    output.add(channel, bytes, bytes.length);
  }

  @Test
  void p15APauseIsExactToTheLine() {
    TaskOutput output = output(3);
    write(output, Channel.STDOUT, "1\n2\n3\n4\n5\n");
    assertThat(did).containsExactly("1", "2", "3", "pause STDOUT", "wait STDOUT");
    assertThat(output.isPaused()).isTrue();
    assertThat(output.isEmpty()).isFalse();
  }

  @Test
  void p15WhatIsHeldBackGoesOnWhereItStopped() {
    TaskOutput output = output(0);
    room.set(false);
    write(output, Channel.STDOUT, "1\n2\n");
    write(output, Channel.STDOUT, "3\n");
    assertThat(did).containsExactly("pause STDOUT", "wait STDOUT", "wait STDOUT");
    did.clear();
    room.set(true);
    output.goOn(Channel.STDOUT);
    output.goOn(Channel.STDOUT);
    assertThat(did).containsExactly("1", "2", "3", "resume STDOUT");
  }

  @Test
  void p15TheEndOfAPipeIsSeenOnceAndGivesTheUnfinishedLine() {
    TaskOutput output = output(0);
    write(output, Channel.STDOUT, "1\nunfinished");
    assertThat(did).containsExactly("1");
    output.closed(Channel.STDOUT);
    assertThat(did).containsExactly("1", "unfinished");
    output.exited();
    assertThat(did).containsExactly("1", "unfinished");
    assertThat(output.isEmpty()).isTrue();
  }

  @Test
  void onceTheProcessHasExitedNothingWaitsForTheQuota() {
    TaskOutput output = output(1);
    write(output, Channel.STDERR, "1\n2\n3\n");
    assertThat(did).containsExactly("1", "pause STDERR", "wait STDERR");
    output.exited();
    assertThat(did).containsExactly("1", "pause STDERR", "wait STDERR", "2", "3", "resume STDERR");
  }
}
