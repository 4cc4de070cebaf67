package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.espalier.core.api.RefusedException;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.testkit.config.ConfigFixtures;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One znode holds everything. */
class ZooKeeperSourceTest extends WritableSourceContract {
  static final String PATH = "/espalier/config";

  private final Path directory;
  private final TestingServer server;
  final CuratorFramework client;

  ZooKeeperSourceTest(@TempDir Path directory) throws Exception {
    this.directory = directory;
    System.setProperty("zookeeper.admin.enableServer", "false");
    server = new TestingServer(true);
    client = CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryOneTime(100));
    client.start();
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    server.close();
  }

  @Override
  protected WritableConfigSource open() throws Exception {
    return (WritableConfigSource) ConfigSources.open("zk://" + server.getConnectString() + PATH);
  }

  @Override
  protected void put(String text) throws Exception {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (client.checkExists().forPath(PATH) == null) {
      assertThat(client.create().creatingParentsIfNeeded().forPath(PATH, bytes)).isEqualTo(PATH);
    } else {
      assertThat(client.setData().forPath(PATH, bytes)).isNotNull();
    }
  }

  @Test
  void whatIsTooBigForAZnodeIsRefusedWithAWayOut() throws Exception {
    String padding = "x".repeat(ZooKeeperConfigSource.MAX_BYTES - 500);
    put(
        """
        {"bistro_settings": {"nodes": {"levels": [], "node_sources": []}, "resources": {}},
         "//": "%s"}
        """
            .formatted(padding));
    WritableConfigSource source = open();
    JobEditor editor = new JobEditor(source, ConfigFixtures.parser(), InstantSource.system());
    assertThatThrownBy(
            () -> editor.save("big", job("{\"owner\": \"" + "a".repeat(600) + "\"}"), 0, "", ""))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("ZooKeeper takes at most 1000000")
        .hasMessageContaining("create the znode /espalier/config/jobs");
    source.close();
  }

  @Test
  void aZnodeThatCannotBeReadWholeIsNotAskedFor() throws Exception {
    put("x".repeat(ZooKeeperConfigSource.MAX_BYTES + 1));
    WritableConfigSource source = open();
    Unavailable refused = catchThrowableOfType(Unavailable.class, source::fetch);
    assertThat(refused.problem().message()).contains("has 1000001 bytes");
    assertThat(refused.problem().hint()).contains("a znode of its own");
    source.close();
  }

  @Test
  void withoutServersItIsUnavailableAndThenThereAgain() throws Exception {
    put("{}");
    WritableConfigSource source = open();
    assertThat(source.fetch().documents()).hasSize(1);
    server.stop();
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                // Until the client notices the loss, it returns the text that it knows.
                assertThatThrownBy(source::fetch)
                    .isInstanceOfSatisfying(
                        Unavailable.class,
                        e ->
                            assertThat(e.problem().message())
                                .contains("no ZooKeeper server answers")));
    server.restart();
    await()
        .atMost(Duration.ofSeconds(30))
        .ignoreExceptions()
        .until(() -> source.fetch().documents().size() == 1);
    put("{ }");
    await()
        .atMost(Duration.ofSeconds(30))
        .ignoreExceptions()
        .until(() -> source.fetch().documents().get(0).bytes().length == 3);
    source.close();
  }

  @Test
  void anExpiredSessionLosesNoChange() throws Exception {
    put("{}");
    WritableConfigSource source = open();
    assertThat(source.fetch().documents()).hasSize(1);
    server.restart();
    put("{ }");
    await()
        .atMost(Duration.ofSeconds(30))
        .ignoreExceptions()
        .until(() -> source.fetch().documents().get(0).bytes().length == 3);
    source.close();
  }

  @Test
  void missingRightsAreNamedAndAnAccountHasThem() throws Exception {
    Path account = directory.resolve("account");
    Files.writeString(account, "digest espalier:s3cret");
    CuratorFramework owner =
        CuratorFrameworkFactory.builder()
            .connectString(server.getConnectString())
            .retryPolicy(new RetryOneTime(100))
            .authorization("digest", "espalier:s3cret".getBytes(StandardCharsets.UTF_8))
            .build();
    owner.start();
    String made =
        owner
            .create()
            .withACL(ZooDefs.Ids.CREATOR_ALL_ACL)
            .forPath("/mine", "{}".getBytes(StandardCharsets.UTF_8));
    owner.close();
    String uri = "zk://" + server.getConnectString() + made;

    WritableConfigSource stranger = (WritableConfigSource) ConfigSources.open(uri);
    Unavailable refused = catchThrowableOfType(Unavailable.class, stranger::fetch);
    assertThat(refused.problem().message()).contains("no rights there (ACL)");
    stranger.close();

    WritableConfigSource known =
        (WritableConfigSource) ConfigSources.open(uri + "?auth_file=" + account);
    assertThat(known.fetch().documents()).hasSize(1);
    assertThat(known.write(known.fetch(), made, "{ }".getBytes(StandardCharsets.UTF_8))).isTrue();
    assertThat(known.name()).doesNotContain("s3cret");
    known.close();
  }

  @Test
  void aThousandTimesAskedIsOnceRead() throws Exception {
    put("{}");
    WritableConfigSource source = open();
    // The news that the connection stands may come after the first reading.
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(source.fetch()).isSameAs(source.fetch()));
    source.close();
  }
}
