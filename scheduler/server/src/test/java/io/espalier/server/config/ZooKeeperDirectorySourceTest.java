package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.testkit.config.ConfigFixtures;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each job has a znode of its own. */
@Tag("slow")
final class ZooKeeperDirectorySourceTest extends ZooKeeperSourceTest {
  ZooKeeperDirectorySourceTest(@TempDir Path directory) throws Exception {
    super(directory);
  }

  @Override
  protected void put(String text) throws Exception {
    super.put(text);
    if (client.checkExists().forPath(PATH + "/jobs") == null) {
      assertThat(client.create().forPath(PATH + "/jobs", new byte[0])).isNotNull();
    }
  }

  @Test
  void aNewJobGetsAZnodeThatGoesWithIt() throws Exception {
    put(
        "{\"bistro_settings\": {\"nodes\": {\"levels\": [], \"node_sources\": []},"
            + " \"resources\": {}}}");
    WritableConfigSource source = open();
    JobEditor editor = new JobEditor(source, ConfigFixtures.parser(), InstantSource.system());
    assertThat(editor.save("a:b", job("{\"owner\": \"x\"}"), 0, "", "").version()).isEqualTo(1);
    assertThat(client.getChildren().forPath(PATH + "/jobs")).containsExactly("a%3Ab");
    assertThat(new String(client.getData().forPath(PATH + "/jobs/a%3Ab"), StandardCharsets.UTF_8))
        .contains("\"bistro_job->a:b\"");
    assertThat(source.fetch().documents())
        .extracting(Document::name)
        .containsExactly(PATH, PATH + "/jobs/a%3Ab");
    assertThat(editor.delete("a:b", 1, "", "").job()).isNull();
    assertThat(client.getChildren().forPath(PATH + "/jobs")).isEmpty();
    source.close();
  }

  @Override
  @Test
  void whatIsTooBigForAZnodeIsRefusedWithAWayOut() throws Exception {
    put(
        """
        {"bistro_settings": {"nodes": {"levels": [], "node_sources": []}, "resources": {}},
         "//": "%s"}
        """
            .formatted("x".repeat(ZooKeeperConfigSource.MAX_BYTES - 500)));
    WritableConfigSource source = open();
    JobEditor editor = new JobEditor(source, ConfigFixtures.parser(), InstantSource.system());
    String job = "{\"owner\": \"" + "a".repeat(600) + "\"}";
    assertThat(editor.save("big", job(job), 0, "", "").version()).isEqualTo(1);
    source.close();
  }
}
