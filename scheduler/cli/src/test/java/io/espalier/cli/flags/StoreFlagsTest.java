package io.espalier.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.server.app.options.StoreOptions;
import io.espalier.server.store.jdbc.mysql.MySqlAddress;
import io.espalier.server.store.jdbc.mysql.MySqlAddress.Tls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class StoreFlagsTest {
  @TempDir
  @SuppressWarnings("NullAway.Init")
  Path temp;

  private final List<String> problems = new ArrayList<>();

  @Command
  private static final class Program {
    @Mixin private StoreFlags flags = new StoreFlags();
  }

  private StoreFlags.Choice choice(String... arguments) {
    Program program = new Program();
    new CommandLine(program).parseArgs(arguments);
    return program.flags.choice(false, problems);
  }

  @Test
  void sqlite_is_the_default() {
    assertThat(choice().kind()).isEqualTo(StoreOptions.Kind.SQLITE);
    assertThat(choice("--status-store", "memory").kind()).isEqualTo(StoreOptions.Kind.MEMORY);
    assertThat(problems).isEmpty();
  }

  @Test
  void mysql_comes_with_its_password_and_its_authority() throws Exception {
    Path file = Files.writeString(temp.resolve("pw"), "x");
    StoreFlags.Choice choice =
        choice(
            "--status-store=mysql://me@10.0.0.1/x",
            "--store-password-file=" + file,
            "--store-tls-ca=" + file);
    assertThat(problems).isEmpty();
    assertThat(choice.kind()).isEqualTo(StoreOptions.Kind.MYSQL);
    MySqlAddress address = choice.mysql().orElseThrow();
    assertThat(address.passwordFile()).contains(file);
    assertThat(address.tls()).isEqualTo(Tls.VERIFY_IDENTITY);
    assertThat(address.tlsCa()).contains(file);
    assertThat(choice("--status-store=mysql://me@10.0.0.1/x", "--store-tls=disabled").mysql())
        .hasValueSatisfying(a -> assertThat(a.tls()).isEqualTo(Tls.DISABLED));
    assertThat(problems).isEmpty();
  }

  @Test
  void everything_that_is_wrong_is_told_at_once() {
    choice(
        "--status-store=mysql://me@10.0.0.1/x",
        "--store-password-file=" + temp.resolve("none"),
        "--store-password-env=ESPALIER_NO_SUCH",
        "--store-tls=strong",
        "--store-tls-ca=" + temp.resolve("no-ca"));
    assertThat(problems)
        .containsExactly(
            "--store-password-file and --store-password-env: keep one of them",
            "--store-password-file " + temp.resolve("none") + " cannot be read",
            "--store-tls-ca " + temp.resolve("no-ca") + " cannot be read",
            "--store-tls strong is none of disabled, preferred, required, verify-ca,"
                + " verify-identity");
  }

  @Test
  void other_stores_and_flags_without_a_store_are_told() {
    choice("--status-store=postgres");
    choice("--store-password-env=PATH");
    choice("--status-store=mysql://me:s3cret@h/x");
    choice("--status-store=mysql://me@h/x", "--store-password-env=ESPALIER_NO_SUCH");
    assertThat(problems)
        .hasSize(4)
        .satisfiesExactly(
            p ->
                assertThat(p)
                    .isEqualTo(
                        "--status-store postgres is none of sqlite, memory,"
                            + " mysql://USER@HOST:PORT/SCHEMA"),
            p -> assertThat(p).isEqualTo("--store-... flags are for --status-store mysql://..."),
            p -> assertThat(p).contains("contains a password").doesNotContain("s3cret"),
            p -> assertThat(p).isEqualTo("--store-password-env ESPALIER_NO_SUCH is not set"));
  }
}
