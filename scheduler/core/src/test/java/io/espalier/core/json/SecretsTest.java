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
  void ofABodyOnlyAnObjectIsShownWithoutWhatHasTheNameOfASecret() {
    Json.Obj user =
        Json.object().put("user", "ann").put("password", "S3CR3T").put("pwd", 123).build();
    Json.Obj sent =
        Json.object().put("to", "{node}").put("of", new Json.Arr(List.of(user))).build();
    assertThat(shown(of("call", of("http", of("body", sent)))))
        .isEqualTo(
            "{\"call\":{\"http\":{\"body\":{\"to\":\"{node}\","
                + "\"of\":[{\"user\":\"ann\",\"password\":\"***\",\"pwd\":\"***\"}]}}}}");
    assertThat(shown(of("body", Json.of("user=ann S3CR3T")))).isEqualTo("{\"body\":\"***\"}");
    assertThat(shown(of("body", Json.of("{\"password\": \"S3CR3T\"}"))))
        .isEqualTo("{\"body\":\"***\"}");
    assertThat(shown(of("body", Json.strings(List.of("S3CR3T"))))).isEqualTo("{\"body\":\"***\"}");
  }

  @Test
  void labelsAndResourcesMayHaveTheseNames() {
    assertThat(shown(of("labels", of("environment", Json.of("production")))))
        .contains("production");
    assertThat(shown(of("labels", of("body", Json.of("steel"))))).contains("steel");
    assertThat(shown(of("links", of("environment", Json.of("http://h/?token=S3CR3T")))))
        .contains("http://h/?token=***");
    assertThat(shown(of("resources", of("headers", Json.of(3))))).contains("3");
  }
}
