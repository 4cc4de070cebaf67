package io.espalier.server.store.jdbc.mysql;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.core.status.store.StatusStore;
import io.espalier.core.status.store.StoreException;
import io.espalier.json.JsonReader;
import io.espalier.server.store.jdbc.mysql.MySqlAddress.Tls;
import io.espalier.testkit.database.DatabaseServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class MySqlContractTest extends MySqlContract {
  private static @Nullable DatabaseServer shared;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    // What is in doubt here does not hang on the disk of this machine.
    shared =
        new DatabaseServer(DatabaseServer.Flavour.MYSQL, directory, "--innodb-flush-method=nosync");
  }

  @AfterAll
  static void stop() throws Exception {
    if (shared != null) {
      shared.close();
    }
  }

  @Test
  void with_tls_the_server_has_to_show_what_an_authority_has_signed() throws Exception {
    server().sql("create user careful identified by 's3cret-one' require ssl");
    server().sql("grant all on contract.* to careful");
    Path data = server().directory().resolve("data");
    Path password = Files.writeString(server().directory().resolve("password"), "s3cret-one");
    MySqlAddress address =
        MySqlAddress.parse("mysql://careful@127.0.0.1:" + server().port() + "/contract")
            .withPasswordFile(password);
    open(address.withTls(Tls.VERIFY_CA, Optional.of(data.resolve("ca.pem")))).close();
    open(address.withTls(Tls.REQUIRED, Optional.empty())).close();
    assertThatThrownBy(
            () ->
                open(address.withTls(Tls.VERIFY_CA, Optional.of(data.resolve("client-cert.pem")))))
        .hasMessageContaining("cannot be reached: TLS failed: ");
    assertThatThrownBy(
            () -> open(address.withTls(Tls.VERIFY_IDENTITY, Optional.of(data.resolve("ca.pem")))))
        .hasMessageContaining("cannot be reached: TLS failed: ");
    assertThatThrownBy(() -> open(address.withTls(Tls.DISABLED, Optional.empty())))
        .isInstanceOf(StoreException.class)
        .hasMessageNotContaining("s3cret-one");
    assertThatThrownBy(() -> open(address.withTls(Tls.VERIFY_CA, Optional.of(password))))
        .hasMessageContaining("there are no certificates in PEM form in " + password);
  }

  private static StatusStore open(MySqlAddress address) {
    return MySqlStatusStore.open(address, JsonReader.strict()::read);
  }

  @Override
  DatabaseServer server() {
    if (shared == null) {
      throw new IllegalStateException("no server");
    }
    return shared;
  }
}
