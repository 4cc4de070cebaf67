package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.espalier.core.api.ConfigChange;
import io.espalier.core.config.source.ConfigSource.Document;
import io.espalier.core.config.source.ConfigSource.Unavailable;
import io.espalier.core.config.source.WritableConfigSource;
import io.espalier.core.json.Json;
import io.espalier.testkit.config.ConfigFixtures;
import io.espalier.testkit.database.DatabaseServer;
import io.espalier.testkit.database.SharedMariaDb;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Against a real server; each test has a configuration of its own in one schema. */
@Tag("slow")
@ExtendWith(SharedMariaDb.class)
class MySqlConfigSourceTest extends WritableSourceContract {
  private final DatabaseServer server;
  private final String name = "c-" + UUID.randomUUID();

  MySqlConfigSourceTest(DatabaseServer server) throws SQLException {
    this.server = server;
    server.sql("create database if not exists configs");
  }

  private String uri(String user) {
    return "mysql://" + user + "@127.0.0.1:" + server.port() + "/configs";
  }

  @Override
  protected WritableConfigSource open() throws Exception {
    return (WritableConfigSource) ConfigSources.open(uri("root") + "?name=" + name);
  }

  @Override
  protected void put(String text) throws Exception {
    WritableConfigSource source = open();
    try {
      assertThat(source.fetch().documents()).isNotEmpty();
    } catch (Unavailable e) {
      assertThat(e.problem().message()).contains("there is no row");
    } finally {
      source.close();
    }
    server.sql(
        "insert into configs.espalier_config values ('"
            + name
            + "', 'main', x'"
            + HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8))
            + "') on duplicate key update body = values(body)");
  }

  @Test
  void aNewJobGetsARowThatGoesWithIt() throws Exception {
    put(
        "{\"bistro_settings\": {\"nodes\": {\"levels\": [], \"node_sources\": []},"
            + " \"resources\": {}}}");
    WritableConfigSource source = open();
    JobEditor editor = new JobEditor(source, ConfigFixtures.parser(), InstantSource.system());
    assertThat(editor.save("a:b", job("{\"owner\": \"x\"}"), 0, "", "").version()).isEqualTo(1);
    assertThat(source.fetch().documents())
        .extracting(Document::name)
        .containsExactly("jobs/a:b", "main");
    assertThat(editor.delete("a:b", 1, "", "").job()).isNull();
    assertThat(source.fetch().documents()).extracting(Document::name).containsExactly("main");
    source.close();
  }

  @Test
  void theHistoryOfManyJobsTakesOneQueryAndOneInsertion() throws Exception {
    put(
        "{\"bistro_settings\": {\"nodes\": {\"levels\": [], \"node_sources\": []},"
            + " \"resources\": {}}}");
    Json.Builder jobs = Json.object();
    for (int i = 0; i < 400; i++) {
      jobs.put("bistro_job->j" + i, job("{\"owner\": \"x\"}"));
    }
    WritableConfigSource source = open();
    ConfigEditor editor =
        new ConfigEditor(new JobEditor(source, ConfigFixtures.parser(), InstantSource.system()));
    server.sql("set global log_output = 'TABLE'", "set global general_log = 1");
    try {
      assertThat(editor.write(editor.edit(new ConfigChange(jobs.build(), false)), "", ""))
          .hasSize(400);
      assertThat(source.history("j399")).hasSize(1);
    } finally {
      server.sql("set global general_log = 0");
    }
    source.close();
    assertThat(logged("SELECT")).as("for all jobs, and for one").isEqualTo("2");
    assertThat(logged("INSERT")).isEqualTo("1");
  }

  /** How many statements of this configuration's history the server has logged. */
  private String logged(String verb) throws SQLException {
    String bytes = HexFormat.of().formatHex(name.getBytes(StandardCharsets.UTF_8));
    return String.valueOf(
        server.ask(
            "select count(*) from mysql.general_log where argument like '"
                + verb
                + "%espalier_config_history%"
                + bytes
                + "%'"));
  }

  @Test
  void twoConfigurationsInOneSchemaDoNotMeet() throws Exception {
    put("{}");
    WritableConfigSource other =
        (WritableConfigSource) ConfigSources.open(uri("root") + "?name=" + name + "x");
    Unavailable none = catchThrowableOfType(Unavailable.class, other::fetch);
    assertThat(none.problem().message()).contains("there is no row 'main' of '" + name + "x'");
    other.close();
  }

  @Test
  void aWrongPasswordAndMissingRightsAreSaidWithoutThePassword(@TempDir Path directory)
      throws Exception {
    put("{}");
    server.sql("create user if not exists reader identified by 's3cret'");
    server.sql("grant select on configs.* to reader");
    Path password = Files.writeString(directory.resolve("password"), "wrong-one");
    String uri = uri("reader") + "?name=" + name + "&password_file=" + password;
    WritableConfigSource refused = (WritableConfigSource) ConfigSources.open(uri);
    Unavailable wrong = catchThrowableOfType(Unavailable.class, refused::fetch);
    assertThat(wrong.problem().message()).contains("refuses user reader");
    assertThat(wrong.problem().toString()).doesNotContain("wrong-one");
    refused.close();

    Files.writeString(password, "s3cret");
    WritableConfigSource reader = (WritableConfigSource) ConfigSources.open(uri);
    assertThat(reader.fetch().documents()).hasSize(1);
    assertThatThrownBy(
            () -> reader.write(reader.fetch(), "main", "{ }".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("lets user reader do too little");
    reader.close();
  }

  @Test
  void withoutAServerItIsUnavailable() throws Exception {
    WritableConfigSource nobody =
        (WritableConfigSource) ConfigSources.open("mysql://root@127.0.0.1:1/configs");
    Unavailable away = catchThrowableOfType(Unavailable.class, nobody::fetch);
    assertThat(away.problem().message()).contains("cannot be reached");
    nobody.close();
  }
}
