package io.espalier.core.scheduling.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeOrder;
import io.espalier.core.config.Resource;
import io.espalier.core.config.ResourceCatalog;
import io.espalier.core.scheduling.gate.Scope;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.Topology;
import io.espalier.core.topology.TopologyBuilder;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which resources a factor concerns. */
final class LimitFactorsTest {
  private static final Levels LEVELS = Levels.of(List.of("host", "db"));
  private static final int COUNT = LEVELS.count();

  /** One resource on each level, the number of which is that of the level. */
  private static final ResourceCatalog CATALOG =
      new ResourceCatalog(
          IntStream.range(0, COUNT)
              .mapToObj(level -> new Resource(level, "of" + level, level, 0, 5, 1))
              .toList());

  private static Topology nodes() {
    TopologyBuilder builder = new TopologyBuilder(LEVELS, "here");
    builder.add(NodeSpec.child(1, "h", null));
    builder.add(NodeSpec.child(2, "d", "h"));
    return Objects.requireNonNull(builder.build(NodeOrder.ORIGINAL).value());
  }

  /** The levels whose resources a factor concerns. */
  private static List<Integer> concerned(Scope scope, String... resources) {
    LimitFactors factors = new LimitFactors(nodes(), CATALOG);
    factors.set(List.of(new LimitFactor("f", scope, Set.of(resources), 0, "", "", 0, 0)));
    return IntStream.range(0, COUNT).filter(factors::concerns).boxed().toList();
  }

  @Test
  void aFactorOfANodeConcernsItsLevelAndThoseBelow() {
    assertThat(concerned(Scope.node("db", "d"))).doesNotContain(0, 1).contains(2);
    assertThat(concerned(Scope.node("host", "h"))).doesNotContain(0).contains(1, 2);
    assertThat(concerned(Scope.node("host", "h"), "of2")).containsExactly(2);
    assertThat(concerned(Scope.node("host", "unknown"))).isEmpty();
  }

  @Test
  void otherFactorsConcernTheirLevelOrAll() {
    assertThat(concerned(Scope.level("host"))).containsExactly(1);
    assertThat(concerned(Scope.all())).contains(0, 1, 2);
  }
}
