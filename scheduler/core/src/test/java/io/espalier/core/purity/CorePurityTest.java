package io.espalier.core.purity;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CorePurityTest {
  private static final List<ArchRule> RULES =
      List.of(
          Purity.NO_IO,
          Purity.NO_LOGGERS,
          Purity.NO_THREADS_OR_PROCESSES,
          Purity.NO_LOCKED_METHODS,
          Purity.NO_CLOCK_OR_CHANCE,
          Purity.ONLY_THE_JDK);

  private static final JavaClasses CORE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.espalier.core");

  private static final JavaClasses IMPURE = new ClassFileImporter().importClasses(Impure.ALL);

  static Stream<ArchRule> rules() {
    return RULES.stream();
  }

  static Stream<Class<?>> impureClasses() {
    return Stream.of(Impure.ALL);
  }

  @Test
  void theRulesSeeTheCore() {
    assertThat(CORE.contain("io.espalier.core.topology.Topology")).isTrue();
    assertThat(CORE.stream().map(JavaClass::getName)).noneMatch(name -> name.contains("purity"));
  }

  @ParameterizedTest
  @MethodSource("rules")
  void coreIsPure(ArchRule rule) {
    rule.check(CORE);
  }

  @ParameterizedTest
  @MethodSource("impureClasses")
  void everyKindOfImpurityIsCaught(Class<?> type) {
    JavaClasses one = new ClassFileImporter().importClasses(type);

    assertThat(RULES).as(type.getSimpleName()).anyMatch(rule -> rule.evaluate(one).hasViolation());
  }

  @ParameterizedTest
  @MethodSource("rules")
  void everyRuleHasTeeth(ArchRule rule) {
    assertThat(rule.evaluate(IMPURE).hasViolation()).isTrue();
  }

  @Test
  void seededChanceAndGivenInstantsAreAllowed() {
    JavaClasses pure = new ClassFileImporter().importClasses(Impure.NotAtAll.class);

    assertThat(RULES).noneMatch(rule -> rule.evaluate(pure).hasViolation());
  }
}
