package io.espalier.cli;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.espalier.server.app.ownership.StoreSetBackException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rules of modules (docs/design/design.md#rules-of-modules) for all of them at once; this
 * module is the only one that sees them all. That the core is pure is tested there.
 */
class ArchitectureTest {
  /** Whoever reads one class of a cycle has to read them all. */
  private static final int LARGEST_CYCLE_IN_CORE = 8;

  /** More files than this are no longer seen at a glance. */
  private static final int MOST_TYPES_IN_PACKAGE = 30;

  /** Made by the compiler of the IDL. */
  private static final String GENERATED = "io.espalier.thrift.gen";

  private static final String[] STORES = {
    "io.espalier.server.store..", "io.espalier.worker.logs..", "io.espalier.nodes.."
  };

  private static final ArchRule VERTX_ONLY_IN_WEBUI =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.espalier.webui..")
          .should()
          .dependOnClassesThat(resideInAnyPackage("io.vertx.."))
          .because("the web server can be replaced in one module");

  private static final ArchRule NETTY_ONLY_IN_TRANSPORTS =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.espalier.webui..", "io.espalier.thrift.rpc..")
          .should()
          .dependOnClassesThat(resideInAnyPackage("io.netty.."))
          .because("the transport can be replaced in one package");

  private static final ArchRule THRIFT_ONLY_IN_RPC =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.espalier.thrift..", "io.espalier..rpc..")
          .should()
          .dependOnClassesThat(resideInAnyPackage("org.apache.thrift.."))
          .because("the wire format stops where the wire stops");

  private static final ArchRule DATABASES_ONLY_IN_STORES =
      noClasses()
          .that()
          .resideOutsideOfPackages(STORES)
          // A configuration in MySQL is a configuration source first.
          .and()
          .haveNameNotMatching(".*\\.MySqlConfigSource(\\$.*)?")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                  "java.sql..", "javax.sql..", "com.zaxxer..", "org.sqlite..", "org.flywaydb.."))
          .because("stores and sources own their transactions");

  private static final ArchRule PARTS_OF_THE_PROCESS_ONLY_IN_SERVER =
      noClasses()
          .that()
          .resideOutsideOfPackage("io.espalier.server..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "io.espalier.server.app.loop..",
                      "io.espalier.server.app.update..",
                      "io.espalier.server.app.metrics..",
                      "io.espalier.server.app.ownership..")
                  // The command tells the operator how to go on after it.
                  .and(not(equivalentTo(StoreSetBackException.class))))
          .because("they are public only for the other packages of the process");

  private static final ArchRule NO_CYCLES =
      slices().matching("io.espalier.(**)").should().beFreeOfCycles();

  private static final ArchRule STATIC_FIELDS_ARE_FINAL =
      fields()
          .that()
          .areStatic()
          .should()
          .beFinal()
          .because("two schedulers in one process must not meet in a static field");

  private static final ArchRule STATIC_FIELDS_HOLD_NO_STATE =
      noFields()
          .that()
          .areStatic()
          .should()
          .haveRawType(describe("a mutable type", ArchitectureTest::isMutable))
          .because("a final reference to something mutable is a mutable static field");

  private static final List<ArchRule> RULES =
      List.of(
          VERTX_ONLY_IN_WEBUI,
          NETTY_ONLY_IN_TRANSPORTS,
          THRIFT_ONLY_IN_RPC,
          DATABASES_ONLY_IN_STORES,
          PARTS_OF_THE_PROCESS_ONLY_IN_SERVER,
          NO_CYCLES,
          STATIC_FIELDS_ARE_FINAL,
          STATIC_FIELDS_HOLD_NO_STATE);

  private static final JavaClasses ESPALIER =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("testkit"))
          .importPackages("io.espalier");

  private static final JavaClasses TESTKIT =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.espalier.testkit");

  private static final JavaClasses OFFENDERS =
      new ClassFileImporter().importPackages("io.espalier.cli.architecture");

  static Stream<ArchRule> rules() {
    return RULES.stream();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "io.espalier.core",
        "io.espalier.json",
        "io.espalier.policies",
        "io.espalier.nodes",
        "io.espalier.worker",
        "io.espalier.webui",
        "io.espalier.thrift",
        "io.espalier.server",
        "io.espalier.cli"
      })
  void theRulesSeeEveryModule(String module) {
    assertThat(ESPALIER.stream().map(JavaClass::getPackageName))
        .anyMatch(name -> name.equals(module) || name.startsWith(module + "."));
  }

  @Test
  void theRulesDoNotSeeTests() {
    assertThat(ESPALIER.contain(ArchitectureTest.class)).isFalse();
  }

  @ParameterizedTest
  @MethodSource("rules")
  void theArchitectureIsKept(ArchRule rule) {
    rule.allowEmptyShould(true).check(ESPALIER);
  }

  @ParameterizedTest
  @MethodSource("rules")
  void everyRuleHasTeeth(ArchRule rule) {
    assertThat(rule.evaluate(OFFENDERS).hasViolation()).isTrue();
  }

  @Test
  void thePackagesOfTheTestkitHaveNoCycles() {
    NO_CYCLES.check(TESTKIT);
  }

  @Test
  void noKnotOfClassesHidesInAPackageOfTheCore() {
    assertThat(ClassCycles.largest(in("io.espalier.core")))
        .hasSizeLessThanOrEqualTo(LARGEST_CYCLE_IN_CORE);
  }

  @Test
  void cyclesOfClassesAreFound() {
    assertThat(ClassCycles.largest(OFFENDERS)).isNotEmpty();
  }

  @Test
  void noPackageIsTooLargeToOverlook() {
    assertThat(crowded(ESPALIER)).isEmpty();
    assertThat(crowded(TESTKIT)).isEmpty();
  }

  @Test
  void crowdedPackagesAreFound() {
    assertThat(crowded(OFFENDERS)).containsExactly("io.espalier.cli.architecture.crowd: 31");
  }

  @ParameterizedTest
  @ValueSource(strings = {"index", "queue", "state", "task", "util"})
  void thePartsOfTheCoreAreUsedOnlyByTheCore(String part) {
    assertThat(
            ESPALIER.stream()
                .filter(user -> !user.getPackageName().startsWith("io.espalier.core.scheduling"))
                .filter(
                    user ->
                        user.getDirectDependenciesFromSelf().stream()
                            .anyMatch(
                                d ->
                                    d.getTargetClass()
                                        .getPackageName()
                                        .equals("io.espalier.core.scheduling." + part))))
        .isEmpty();
  }

  /** Returns the packages with more top-level types than allowed, and how many those are. */
  private static List<String> crowded(JavaClasses classes) {
    Map<String, Long> types =
        classes.stream()
            .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
            .filter(type -> !type.getPackageName().equals(GENERATED))
            .collect(groupingBy(JavaClass::getPackageName, TreeMap::new, counting()));
    return types.entrySet().stream()
        .filter(each -> each.getValue() > MOST_TYPES_IN_PACKAGE)
        .map(each -> each.getKey() + ": " + each.getValue())
        .toList();
  }

  private static List<JavaClass> in(String root) {
    return ESPALIER.stream().filter(each -> each.getPackageName().startsWith(root)).toList();
  }

  private static boolean isMutable(JavaClass type) {
    String name = type.getName();
    return name.startsWith("java.util.concurrent.atomic.")
        || name.startsWith("java.util.concurrent.Concurrent")
        || name.equals("java.lang.StringBuilder")
        || name.equals("java.lang.ThreadLocal")
        || name.equals("java.util.Random")
        || (name.startsWith("java.util.")
            && (name.endsWith("Map") || name.endsWith("Set") || name.endsWith("List"))
            && !type.isInterface());
  }
}
