package io.espalier.server.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.espalier.core.problem.Problem;
import io.espalier.server.CommandException;
import io.espalier.webui.WebOptions;
import io.espalier.webui.fleet.SchedulerListListener;
import io.espalier.webui.fleet.poll.FleetOptions;
import io.espalier.webui.fleet.poll.SchedulerAddress;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UiProcessTest {
  private static final WebOptions ANY_PORT = WebOptions.at("127.0.0.1", 0);

  private static UiProcess.Options options(String schedulers) {
    return new UiProcess.Options(schedulers, Optional.empty(), FleetOptions.DEFAULT, ANY_PORT);
  }

  @Test
  void everythingThatIsWrongWithAListIsSaidAtOnce() {
    assertThatThrownBy(() -> UiProcess.start(options("a,b:0,http://c:1/x")))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("\"a\"")
        .hasMessageContaining("\"b:0\"")
        .hasMessageContaining("\"http://c:1/x\"");
  }

  @Test
  void aFileThatIsNotThereIsSaid(@TempDir Path directory) {
    String file = directory.resolve("none.txt").toString();
    assertThatThrownBy(() -> UiProcess.start(options(file))).hasMessageContaining("no such file");
    assertThatThrownBy(() -> UiProcess.start(options("schedulers.txt")))
        .hasMessageContaining("no such file");
  }

  @Test
  void itListensAndEndsWithinItsBound() throws IOException {
    UiProcess process = UiProcess.start(options("127.0.0.1:1"));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), process.uri().getPort())) {
      assertThat(socket.isConnected()).isTrue();
    }
    process.close();
    assertThatThrownBy(
            () -> new Socket(InetAddress.getLoopbackAddress(), process.uri().getPort()).close())
        .isInstanceOf(IOException.class);
  }

  @Test
  void aFileIsReadAgainWhenItChangesAndABadOneLeavesTheLastGood(@TempDir Path directory)
      throws Exception {
    Path file = Files.writeString(directory.resolve("list"), "a:1\n");
    List<List<SchedulerAddress>> lists = new CopyOnWriteArrayList<>();
    List<List<Problem>> complaints = new CopyOnWriteArrayList<>();
    SchedulerListListener news =
        new SchedulerListListener() {
          @Override
          public void follow(String source, List<SchedulerAddress> schedulers) {
            lists.add(schedulers);
          }

          @Override
          public void complain(List<Problem> problems) {
            complaints.add(problems);
          }
        };
    try (SchedulerListFile followed = SchedulerListFile.follow(file, Duration.ofMillis(20), news)) {
      assertThat(followed).isNotNull();
      assertThat(lists).hasSize(1);
      Files.writeString(file, "a:1 b:2\n");
      await().until(() -> lists.size() == 2);
      Files.writeString(file, "a:1 b:2 nonsense\n");
      await().until(() -> !complaints.isEmpty());
      Files.delete(file);
      await()
          .until(
              () ->
                  complaints.get(complaints.size() - 1).get(0).message().contains("no such file"));
      assertThat(lists).hasSize(2);
      Files.writeString(file, "c:3\n");
      await().until(() -> lists.size() == 3);
    }
  }
}
