package io.espalier.server.store.jdbc.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.espalier.server.store.jdbc.mysql.MySqlAddress.Tls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MySqlAddressTest {
  @Test
  void an_address_is_taken_apart() {
    MySqlAddress address = MySqlAddress.parse("mysql://me@db.example:3307/espalier");
    assertThat(address.host()).isEqualTo("db.example");
    assertThat(address.port()).isEqualTo(3307);
    assertThat(address.schema()).isEqualTo("espalier");
    assertThat(address.user()).isEqualTo("me");
    assertThat(address).hasToString("mysql://me@db.example:3307/espalier");
    assertThat(MySqlAddress.parse("mysql://me@[::1]/x")).hasToString("mysql://me@[::1]:3306/x");
  }

  @Test
  void what_leaves_this_host_is_encrypted() {
    assertThat(MySqlAddress.parse("mysql://me@127.0.0.1/x").tls()).isEqualTo(Tls.PREFERRED);
    assertThat(MySqlAddress.parse("mysql://me@10.1.2.3/x").tls()).isEqualTo(Tls.REQUIRED);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mysql://host/schema",
        "mysql://me@host",
        "mysql://me@host/",
        "mysql://me@host/a/b",
        "mysql://me@/x",
        "mysql:me@host/x",
        "mysql://me@host:port/x y",
        "postgres://me@host/x",
      })
  void other_forms_are_refused(String text) {
    assertThatThrownBy(() -> MySqlAddress.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("is not of the form mysql://user@host:port/schema");
  }

  @Test
  void a_password_is_refused_and_not_repeated() {
    assertThatThrownBy(() -> MySqlAddress.parse("mysql://me:s3cret@host/x"))
        .hasMessageContaining("contains a password")
        .hasMessageNotContaining("s3cret");
    assertThatThrownBy(() -> MySqlAddress.parse("mysql://me@host/x?password=s3cret"))
        .hasMessageNotContaining("s3cret");
    assertThatThrownBy(() -> MySqlAddress.parse("mysql://me:s3 cret@host/x"))
        .hasMessageNotContaining("cret");
  }
}
