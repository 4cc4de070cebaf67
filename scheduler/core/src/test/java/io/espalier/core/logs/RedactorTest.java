package io.espalier.core.logs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedactorTest {
  private static final Redactor COMMON = Redactor.of(List.of(Redactor.COMMON_SECRETS));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "password=hunter2 ok                     | password=[redacted] ok",
        "PWD=/var/tmp pwd=x                     | PWD=/var/tmp pwd=[redacted]",
        "DB_PASSWORD: hunter2                    | DB_PASSWORD: [redacted]",
        "--password=hunter2, --user=me           | --password=[redacted], --user=me",
        "passwd = 'a b c' x                      | passwd = '[redacted]' x",
        "{\"password\": \"a b\", \"n\": 1}       | {\"password\": \"[redacted]\", \"n\": 1}",
        "{\\\"token\\\":\\\"abc\\\"}             | {\\\"token\\\":\\\"[redacted]\\\"}",
        "client_secret=s3cr3t&scope=all          | client_secret=[redacted]&scope=all",
        "api-key: 12345 / API_KEY=67890          | api-key: [redacted] / API_KEY=[redacted]",
        "Authorization: Bearer abc.def.ghi       | Authorization: Bearer [redacted]",
        "authorization: Basic dXNlcjpwYXNz       | authorization: Basic [redacted]",
        "sent bearer 0123456789abcdef            | sent bearer [redacted]",
        "key AKIAIOSFODNN7EXAMPLE here           | key [redacted] here",
        "aws_secret_access_key=wJalrXUtnFEMI/K7  | aws_secret_access_key=[redacted]",
        "jdbc:mysql://root:hunter2@db:3306/x     | jdbc:mysql://root:[redacted]@db:3306/x",
        "tokens: 512, 20 tokens/s                | tokens: 512, 20 tokens/s",
        "pass: 10 fail: 0                        | pass: 10 fail: 0",
        "http://host:8080/path@x                 | http://host:8080/path@x",
        "for 'a'@'b' (using password: YES)       | for 'a'@'b' (using password: YES)",
        "for 'a'@'b' (using password: NO)        | for 'a'@'b' (using password: NO)",
        "(password: YES8) password: NO           | (password: [redacted] password: [redacted]",
        "password: yes)8 password: no)          | password: [redacted] password: no)",
        "nothing to hide                         | nothing to hide",
        "SeCrEt=x AUTHORIZATION=x                | SeCrEt=[redacted] AUTHORIZATION=[redacted]",
        "secretary of state; pawd=x              | secretary of state; pawd=x",
      })
  void commonSecretsAreHidden(String text, String expected) {
    assertThat(COMMON.redact(text)).isEqualTo(expected);
    assertThat(COMMON.redact(text + "\n")).isEqualTo(expected + "\n");
  }

  @Test
  void whatPatternsFindIsHiddenAndOfASecretGroupOnlyThat() {
    assertThat(Redactor.of(List.of("passw(or)?d=[^ ]+")).redact("a passwd=x b\n"))
        .isEqualTo("a [redacted] b\n");
    assertThat(Redactor.of(List.of("id (?<secret>[0-9]+)")).redact("id 17, id 18"))
        .isEqualTo("id [redacted], id [redacted]");
    assertThat(Redactor.of(List.of("abc", "bcd", "^$")).redact("xabcdx")).isEqualTo("x[redacted]x");
    assertThat(Redactor.of(List.of())).isSameAs(Redactor.NONE);
  }

  @Test
  void aPatternThatIsTooSlowForALineHidesAllOfIt() {
    Redactor slow = Redactor.of(List.of("(a|aa)+(b)\\2?"));
    assertThat(slow.redact("a".repeat(60) + "\n")).isEqualTo(Redactor.UNSEARCHED + "\n");
    assertThat(slow.redact("ab")).isEqualTo("[redacted]");
    assertThat(Redactor.of(List.of("(a|b)*c")).redact("ab".repeat(30_000)))
        .isEqualTo(Redactor.UNSEARCHED);
  }

  /** Wherever a long line is cut: the pieces joined are the line redacted as a whole. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void secretsAcrossPiecesAreHidden(long seed) {
    Random random = new Random(seed);
    StringBuilder line = new StringBuilder();
    while (line.length() < 150_000) {
      line.append("some text ".repeat(random.nextInt(800)));
      line.append("password=").append("s3cr3t".repeat(1 + random.nextInt(300))).append(' ');
      line.append("AKIAIOSFODNN7EXAMPLE ");
    }
    String whole = line + "\n";
    StreamingRedactor pieces = COMMON.pieces();
    List<String> given = new ArrayList<>();
    int at = 0;
    while (at < whole.length()) {
      int end = Math.min(whole.length(), at + 1 + random.nextInt(65_000));
      given.add(pieces.take(whole.substring(at, end), end == whole.length()));
      at = end;
    }
    assertThat(pieces.isEmpty()).isTrue();
    assertThat(String.join("", given)).isEqualTo(COMMON.redact(whole)).doesNotContain("s3cr3t");
  }

  @Test
  void aSecretWithoutAnEndIsHiddenToItsEnd() {
    StreamingRedactor pieces = COMMON.pieces();
    List<String> given = new ArrayList<>();
    given.add(pieces.take("token=" + "x".repeat(64_994), false));
    for (int i = 0; i < 5; i++) {
      given.add(pieces.take("x".repeat(65_000), false));
    }
    given.add(pieces.take("xxx and on\n", true));
    assertThat(String.join("", given)).isEqualTo("token=[redacted] and on\n");
  }

  @Test
  void piecesWithoutPatternsAreLeftAlone() {
    StreamingRedactor pieces = Redactor.NONE.pieces();
    assertThat(pieces.take("password=x", false)).isEqualTo("password=x");
    assertThat(pieces.isEmpty()).isTrue();
  }
}
