package io.espalier.core.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SecretsTest {
  private static Json.Obj of(String key, Json value) {
    return Json.object().put(key, value).build();
  }

  private static String shown(Json.Obj object) {
    assertThat(Secrets.hide(object)).isEqualTo(Secrets.hideTexts(object));
    return JsonWriter.compact(Secrets.hideTexts(object));
  }

  @Test
  void anEnvironmentIsHiddenWhateverItIs() {
    Json text = Json.of("S3CR3T");
    assertThat(shown(of("environment", of("X", text))))
        .isEqualTo("{\"environment\":{\"X\":\"***\"}}");
    assertThat(shown(of("environment", text))).isEqualTo("{\"environment\":\"***\"}");
    assertThat(shown(of("headers", Json.strings(List.of("S3CR3T")))))
        .isEqualTo("{\"headers\":\"***\"}");
  }

  @Test
  void labelsAndResourcesMayHaveTheseNames() {
    assertThat(shown(of("labels", of("environment", Json.of("production")))))
        .contains("production");
    assertThat(shown(of("links", of("environment", Json.of("http://h/?token=S3CR3T")))))
        .contains("http://h/?token=***");
    assertThat(shown(of("resources", of("headers", Json.of(3))))).contains("3");
  }
}
