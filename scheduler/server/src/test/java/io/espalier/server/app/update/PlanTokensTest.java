package io.espalier.server.app.update;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.espalier.core.api.RefusedException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.Test;

class PlanTokensTest {
  private final PlanTokens tokens = new PlanTokens("here", "secret");
  private final String token = tokens.sign("v1", "content", 1_000);

  private static String code(PlanTokens tokens, String token, String content, long now) {
    return catchThrowableOfType(RefusedException.class, () -> tokens.check(token, content, now))
        .code();
  }

  @Test
  void aTokenIsGoodUntilItsEndForWhoeverHasTheKey() {
    assertThat(tokens.check(token, "content", 999)).isEqualTo("v1");
    assertThat(new PlanTokens("here", "secret").check(token, "content", 999)).isEqualTo("v1");
    assertThat(code(tokens, token, "content", 1_000)).isEqualTo("plan_expired");
  }

  @Test
  void anythingElseIsRefusedWithACodeOfItsOwn() {
    assertThat(code(tokens, token, "other", 1)).isEqualTo("plan_of_other_content");
    assertThatThrownBy(() -> tokens.check(token, "other", 1))
        .hasMessageContaining("or \"prune\" is");
    assertThat(code(new PlanTokens("there", "secret"), token, "content", 1))
        .isEqualTo("plan_of_another_cluster");
    assertThat(code(new PlanTokens("here", "guess"), token, "content", 1)).isEqualTo("plan_forged");
    assertThat(code(tokens, token + "x", "content", 1)).isEqualTo("plan_forged");
    for (String bad : new String[] {"", ".", "hello", "a.b", "!.!", token.replace('.', '-')}) {
      assertThat(code(tokens, bad, "content", 1)).as(bad).isEqualTo("plan_unreadable");
    }
  }

  @Test
  void whoChangesATokenCannotSignIt() {
    String body = token.substring(0, token.indexOf('.'));
    String claims = new String(Base64.getUrlDecoder().decode(body), StandardCharsets.UTF_8);
    String later = claims.replace("1000", "9000");
    assertThat(later).isNotEqualTo(claims);
    String forged =
        Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(later.getBytes(StandardCharsets.UTF_8))
            + token.substring(token.indexOf('.'));
    assertThat(code(tokens, forged, "content", 1)).isEqualTo("plan_forged");
  }
}
