package io.espalier.webui.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokensFileTest {
  private static final Path NAMED = Path.of("tokens");

  @TempDir Path directory = Path.of("");

  private static Tokens parse(String text) throws TokensFile.Unusable {
    return TokensFile.parse(NAMED, text);
  }

  private static List<String> problems(String text) {
    return Objects.requireNonNull(
            catchThrowableOfType(TokensFile.Unusable.class, () -> parse(text)))
        .problems();
  }

  private Path file(String text, String permissions) throws IOException {
    Path file = Files.writeString(directory.resolve("tokens"), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    return file;
  }

  @Test
  void namesRolesTokensHashesAndCertificatesAreRead() throws Exception {
    String hash = Tokens.sha256("the-token-of-bob-123");
    Tokens tokens =
        parse(
            "# who may\r\n\n  alice admin  the-token-of-alice-1 \nbob\toperator\tsha256:"
                + hash.toUpperCase(Locale.ROOT)
                + "\ncarol viewer cert:CN=Carol Jones, O=Example\n"
                + "alice admin another-of-alice-22\n");
    assertThat(tokens.size()).isEqualTo(4);
    assertThat(tokens.ofToken("the-token-of-alice-1"))
        .contains(new Principal("alice", Role.ADMIN, true));
    assertThat(tokens.ofToken("another-of-alice-22"))
        .as("two tokens of one name, while it changes from one to the other")
        .contains(new Principal("alice", Role.ADMIN, true));
    assertThat(tokens.ofToken("the-token-of-bob-123"))
        .contains(new Principal("bob", Role.OPERATOR, true));
    assertThat(tokens.ofCertificate(new X500Principal("cn=carol jones,o=EXAMPLE")))
        .contains(new Principal("carol", Role.VIEWER, true));
    assertThat(tokens.ofCertificate(new X500Principal("CN=Carol Jones"))).isEmpty();
    for (String wrong : List.of("", "the-token-of-alice-", "the-token-of-alice-12", hash)) {
      assertThat(tokens.ofToken(wrong)).as(wrong).isEmpty();
    }
    assertThat(tokens.toString()).doesNotContain("alice").doesNotContain("token-of");
  }

  @Test
  void operatorsOfQueuesProxiesAndPeopleBehindThemAreRead() throws Exception {
    Tokens tokens =
        parse(
            """
            dan operator@night,batch token-of-dan-1234
            gate proxy token-of-gate-123
            erin admin sso
            """);
    Principal dan = tokens.ofToken("token-of-dan-1234").orElseThrow();
    assertThat(dan.may(Role.OPERATOR, "night")).isTrue();
    assertThat(dan.may(Role.OPERATOR, "default")).isFalse();
    assertThat(dan.may(Role.OPERATOR, "")).isFalse();
    assertThat(dan.may(Role.ADMIN, "night")).isFalse();
    assertThat(dan.role()).isEqualTo(Role.VIEWER);
    assertThat(dan.atMost("viewer").may(Role.OPERATOR, "night")).isFalse();
    assertThat(tokens.isProxy(tokens.ofToken("token-of-gate-123").orElseThrow())).isTrue();
    assertThat(tokens.isProxy(dan)).isFalse();
    assertThat(tokens.ofSignOn("erin")).contains(new Principal("erin", Role.ADMIN, true));
    assertThat(tokens.ofSignOn("dan")).isEmpty();
    assertThat(
            problems(
                """
                a operator@ sso
                b operator@x,,y sso
                c admin@x sso
                d proxy sso
                e viewer sso
                e viewer sso
                e proxy token-of-e-12345
                """))
        .hasSize(6)
        .anyMatch(problem -> problem.contains("the proxy d needs a token"))
        .anyMatch(problem -> problem.contains("one name has one role"));
  }

  @Test
  void everyProblemIsSaidAtOnceWithItsLineAndWithoutTheToken() {
    List<String> said =
        problems(
            """
            alice admin good-token-of-alice
            short operator abc
            bad*name viewer some-token-of-somebody
            dave boss some-token-of-dave-1
            eve viewer sha256:12
            frank viewer cert:nonsense
            only-a-secret-token-here
            alice viewer another-token-of-alice
            grace viewer good-token-of-alice
            anonymous viewer some-token-of-nobody
            henry viewer with*strange=characters
            """);
    assertThat(said).hasSize(10);
    assertThat(said.get(0)).startsWith("tokens:2: ").contains("16 to 512").contains("short");
    assertThat(said.get(1)).startsWith("tokens:3: ");
    assertThat(said.get(2)).startsWith("tokens:4: ").contains("viewer, operator or admin");
    assertThat(said.get(3)).startsWith("tokens:5: ").contains("64 hexadecimal digits");
    assertThat(said.get(4)).startsWith("tokens:6: ").contains("CN=frank");
    assertThat(said.get(5)).startsWith("tokens:7: ").contains("NAME ROLE TOKEN");
    assertThat(said.get(6)).startsWith("tokens:8: ").contains("one name has one role");
    assertThat(said.get(7)).startsWith("tokens:9: ").contains("line 1");
    assertThat(said.get(8)).startsWith("tokens:10: ");
    assertThat(said.get(9)).startsWith("tokens:11: ");
    assertThat(said)
        .noneMatch(
            text ->
                text.contains("abc") || text.contains("some-token") || text.contains("secret-"));
  }

  @Test
  void aFileThatNamesNobodyIsRefused() {
    assertThat(problems("# nobody\n")).singleElement().asString().contains("names nobody");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r--r--", "rw----r--", "rw-----w-", "rw--w----"})
  void whatOthersMayReadOrWriteIsRefused(String permissions) throws Exception {
    Path file = file("alice admin good-token-of-alice", permissions);
    assertThatThrownBy(() -> TokensFile.read(file))
        .isInstanceOf(TokensFile.Unusable.class)
        .hasMessageContaining("chmod 600");
  }

  @Test
  void aMissingAndAnUnreadableFileAreNamed() throws Exception {
    assertThatThrownBy(() -> TokensFile.read(directory.resolve("none")))
        .hasMessageContaining("there is no file")
        .hasMessageContaining("none");
    Path file = file("", "rw-r-----");
    Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    assertThatThrownBy(() -> TokensFile.read(file)).hasMessageContaining("UTF-8");
  }

  @Test
  void aChangedFileIsInForceAtTheNextPollAndABrokenOneNever() throws Exception {
    Path file = file("alice admin good-token-of-alice", "rw-------");
    Credentials credentials = Credentials.of(file);
    Files.writeString(file, "bob viewer good-token-of-bobby");
    credentials.poll();
    assertThat(credentials.tokens().ofToken("good-token-of-alice")).isEmpty();
    assertThat(credentials.tokens().ofToken("good-token-of-bobby")).isPresent();
    assertThat(credentials.problem()).isEmpty();

    Files.writeString(file, "bob viewer");
    credentials.poll();
    assertThat(credentials.problem()).get().asString().contains(":1: ");
    assertThat(credentials.tokens().ofToken("good-token-of-bobby")).isPresent();

    Files.delete(file);
    credentials.poll();
    assertThat(credentials.problem()).get().asString().contains("there is no file");
    assertThat(credentials.tokens().ofToken("good-token-of-bobby")).isPresent();

    file("carol viewer good-token-of-carol", "rw-------");
    credentials.poll();
    assertThat(credentials.problem()).isEmpty();
    assertThat(credentials.tokens().ofToken("good-token-of-carol")).isPresent();

    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
    credentials.poll();
    assertThat(credentials.problem()).get().asString().contains("chmod 600");
  }
}
