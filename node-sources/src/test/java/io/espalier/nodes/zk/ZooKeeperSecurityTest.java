package io.espalier.nodes.zk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ZooKeeperSecurityTest {
  private final Path directory;

  ZooKeeperSecurityTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private ZooKeeperSecurity read(String text) throws IOException {
    return ZooKeeperSecurity.read(Files.writeString(directory.resolve("access"), text));
  }

  @Test
  void anAccountAloneIsEnough() throws Exception {
    assertThat(read("\n# ours\n  digest espalier:secret words  \n").isEncrypted()).isFalse();
  }

  @Test
  void pathsStartAtTheFile() throws Exception {
    Files.writeString(directory.resolve("ca.pem"), "no certificate");
    ZooKeeperSecurity security = read("tls-ca ca.pem\n");
    assertThat(security.isEncrypted()).isTrue();
    assertThatThrownBy(security::context)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("TLS for ZooKeeper");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nonsense | line 1 does not hold a scheme and an account",
        "digest | line 1 does not hold a scheme and an account",
        "# nothing | does not hold a scheme and an account",
        "read digest a:b | readers are named, and no account",
        "read digest | line 1 names no reader",
        "tls-ca none.pem | none.pem cannot be read",
        "tls_ca ca.pem | line 1 begins with tls_ca; there are tls-ca and tls-cert",
        "tls-cert access | tls-cert is given without tls-ca",
      })
  void whatIsWrongIsNamed(String text, String words) {
    assertThatThrownBy(() -> read(text))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(words);
  }

  @Test
  void allProblemsAreNamedAndNoSecret() {
    assertThatThrownBy(() -> read("digest a:s3cret\ndigest b:s3cret\nread x\ntls-ca none\n"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 2 is a second account")
        .hasMessageContaining("line 3 names no reader")
        .hasMessageContaining("line 4")
        .hasMessageNotContaining("s3cret");
  }
}
