package io.espalier.core.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Objects of few members behave as those of many: compared with a hash table, on random puts. */
class MembersTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 5, 11, 12, 13, 14, 50})
  void behaveAsAMapInTheOrderOfInsertion(int puts) {
    for (long seed = 0; seed < 50; seed++) {
      Random random = new Random(seed);
      Map<String, Json> expected = new LinkedHashMap<>();
      Json.Builder builder = Json.object();
      int keys = 1 + random.nextInt(2 * Members.MOST);
      for (int i = 0; i < puts; i++) {
        String key = "k" + random.nextInt(keys);
        expected.put(key, Json.of(i));
        builder.put(key, i);
      }
      Json.Obj object = builder.build();
      assertThat(object.members().entrySet()).containsExactlyElementsOf(expected.entrySet());
      assertThat(object.members()).isEqualTo(expected).hasSameHashCodeAs(expected);
      assertThat(expected).isEqualTo(object.members());
      assertThat(object).isEqualTo(new Json.Obj(expected));
      for (int key = 0; key < keys; key++) {
        String name = "k" + key;
        assertThat(object.get(name)).isEqualTo(expected.get(name));
        assertThat(object.members().containsKey(name)).isEqualTo(expected.containsKey(name));
      }
      assertThatExceptionOfType(UnsupportedOperationException.class)
          .isThrownBy(() -> object.members().put("new", Json.of(1)));
    }
  }

  @Test
  void whatABuilderOrAMapGetsLaterIsNotInTheObject() {
    for (int members = 1; members < 2 * Members.MOST; members++) {
      Json.Builder builder = Json.object();
      Map<String, Json> map = new HashMap<>();
      for (int i = 0; i < members; i++) {
        builder.put("k" + i, i);
        map.put("k" + i, Json.of(i));
      }
      Json.Obj built = builder.build();
      Json.Obj copied = new Json.Obj(map);
      builder.put("later", true).put("k0", -1);
      map.put("later", Json.of(true));
      map.put("k0", Json.of(-1));
      assertThat(built.members()).hasSize(members).containsEntry("k0", Json.of(0));
      assertThat(copied.members()).hasSize(members).containsEntry("k0", Json.of(0));
    }
  }

  @Test
  void refuseNull() {
    Map<String, Json> members = new HashMap<>();
    members.put("a", null);
    assertThatNullPointerException().isThrownBy(() -> new Json.Obj(members)).withMessage("a");
  }
}
