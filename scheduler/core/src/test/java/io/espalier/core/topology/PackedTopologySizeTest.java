package io.espalier.core.topology;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.json.Json;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a tree of a million nodes weighs. */
class PackedTopologySizeTest {
  private static final int HOSTS = 1000;
  private static final int VOLUMES_PER_HOST = 1000;

  private static PackedTopology millionNodes(NodeOrder order, boolean rich) {
    TopologyBuilder b = new TopologyBuilder(Levels.of(List.of("host", "volume")), "instance");
    for (int h = 0; h < HOSTS; h++) {
      b.add(NodeSpec.child(1, "host" + h, null));
    }
    for (int h = 0; h < HOSTS; h++) {
      for (int v = 0; v < VOLUMES_PER_HOST; v++) {
        String name = "host" + h + "__" + v;
        Set<String> tags = rich ? Set.of("tier" + v % 3) : Set.of();
        b.add(new NodeSpec(2, name, "host" + h, 1, !rich || v % 2 == 0, tags, Json.Obj.EMPTY));
      }
    }
    return (PackedTopology) Objects.requireNonNull(b.build(order).value());
  }

  private static double bytesPerNode(PackedTopology t) {
    return (double) (t.byteSize() - t.nameBytes()) / t.size();
  }

  @Test
  void aMillionNodesCostAtMostTwentyFourBytesEachBesideTheirNames() {
    long begin = System.nanoTime();
    PackedTopology plain = millionNodes(NodeOrder.ORIGINAL, false);
    long millis = (System.nanoTime() - begin) / 1_000_000;
    System.out.printf(
        "%,d nodes: %.1f bytes per node beside the name, %.1f with it; built in %d ms%n",
        plain.size(), bytesPerNode(plain), (double) plain.byteSize() / plain.size(), millis);
    assertThat(plain.size()).isEqualTo(1 + HOSTS + HOSTS * VOLUMES_PER_HOST);
    assertThat(bytesPerNode(plain)).isLessThan(24);
    assertThat(plain.find(2, "host999__999")).isEqualTo(plain.size() - 1);
    for (int node = 0; node < plain.size(); node += 997) {
      assertThat(plain.find(plain.level(node), plain.name(node))).isEqualTo(node);
    }
  }

  @Test
  void flagsAndTagsAddFourBytesAndABit() {
    PackedTopology rich = millionNodes(NodeOrder.LEXICOGRAPHIC, true);
    assertThat(bytesPerNode(rich)).isLessThan(24);
    assertThat(rich.tags(rich.find(2, "host7__5"))).containsExactly("tier2");
    assertThat(rich.enabled(rich.find(2, "host7__5"))).isFalse();
    assertThat(rich.name(rich.childStart(1))).isEqualTo("host0__0");
    assertThat(rich.name(rich.childStart(1) + 1)).isEqualTo("host0__1");
    assertThat(rich.name(rich.childStart(1) + 2)).isEqualTo("host0__10");
  }
}
