package io.espalier.core.purity;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Map;
import java.util.Set;

/**
 * The rules that keep the core pure (docs/design/design.md#rules-of-modules). They hold for all
 * classes that they are evaluated on; {@link CorePurityTest} says which.
 */
final class Purity {
  private static final Set<String> TYPES =
      Set.of(
          "java.lang.Process",
          "java.lang.ProcessBuilder",
          "java.lang.ProcessHandle",
          "java.lang.Runtime",
          "java.lang.System$Logger",
          "java.lang.Thread",
          "java.lang.ThreadGroup",
          "java.lang.ThreadLocal",
          "java.security.SecureRandom",
          "java.util.Timer",
          "java.util.concurrent.CompletionService",
          "java.util.concurrent.ExecutorService",
          "java.util.concurrent.Executors",
          "java.util.concurrent.ForkJoinPool",
          "java.util.concurrent.ScheduledExecutorService",
          "java.util.concurrent.ThreadFactory",
          "java.util.concurrent.ThreadLocalRandom",
          "java.util.concurrent.ThreadPoolExecutor",
          "java.util.concurrent.TimeUnit");

  /** Methods and fields that read a clock, the environment, or chance; {@code *}: every one. */
  private static final Map<String, Set<String>> MEMBERS =
      Map.of(
          "java.lang.System",
          Set.of(
              "currentTimeMillis",
              "nanoTime",
              "getenv",
              "getProperty",
              "getProperties",
              "exit",
              "gc",
              "in",
              "out",
              "err",
              "getLogger"),
          "java.lang.Math",
          Set.of("random"),
          "java.lang.StrictMath",
          Set.of("random"),
          "java.util.UUID",
          Set.of("randomUUID"),
          "java.time.Clock",
          Set.of("*"),
          "java.time.InstantSource",
          Set.of("system"),
          "java.util.random.RandomGenerator",
          Set.of("getDefault", "of"),
          "java.time.ZoneId",
          Set.of("systemDefault"),
          "java.util.TimeZone",
          Set.of("getDefault"));

  /** Constructors that seed themselves or read the clock when they are given nothing. */
  private static final Set<String> SELF_SEEDING =
      Set.of("java.util.Random", "java.util.SplittableRandom", "java.util.Date");

  static final ArchRule NO_IO =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideInAnyPackage(
                      "java.io..",
                      "java.net..",
                      "java.nio.channels..",
                      "java.nio.file..",
                      "java.sql..",
                      "javax..",
                      "sun..",
                      "com.sun..")
                  .and(DescribedPredicate.not(describe("Serializable", Purity::isSerializable))))
          .because("core decides and never touches the world: adapters do I/O");

  static final ArchRule NO_LOGGERS =
      noClasses()
          .should()
          .dependOnClassesThat(resideInAnyPackage("org.slf4j..", "java.util.logging.."))
          .because("core answers in values; who asked may log them");

  static final ArchRule NO_THREADS_OR_PROCESSES =
      noClasses()
          .should()
          .dependOnClassesThat(
              describe(
                  "are threads, processes, pools or locks",
                  type ->
                      TYPES.contains(type.getName())
                          || type.getPackageName().equals("java.util.concurrent.locks")))
          .because("one thread owns the core's state, and that thread is not the core's");

  static final ArchRule NO_LOCKED_METHODS =
      noMethods().should().haveModifier(JavaModifier.SYNCHRONIZED);

  static final ArchRule NO_CLOCK_OR_CHANCE =
      noClasses()
          .should()
          .accessTargetWhere(describe("reads a clock, chance or the machine", Purity::isAmbient))
          .because("instants and seeds are arguments, so that every decision can be replayed");

  static final ArchRule ONLY_THE_JDK =
      noClasses()
          .should()
          .dependOnClassesThat(
              resideOutsideOfPackages("java..", "io.espalier.core..", "org.jspecify.annotations.."))
          .because("plug-ins see the core and must not inherit libraries from it");

  private Purity() {}

  private static boolean isSerializable(JavaClass type) {
    return type.getName().equals("java.io.Serializable");
  }

  private static boolean isAmbient(JavaAccess<?> access) {
    AccessTarget target = access.getTarget();
    String owner = target.getOwner().getName();
    String name = target.getName();
    Set<String> members = MEMBERS.getOrDefault(owner, Set.of());
    if (members.contains(name) || members.contains("*")) {
      return true;
    }
    int arguments =
        target instanceof AccessTarget.CodeUnitCallTarget call
            ? call.getRawParameterTypes().size()
            : -1;
    if (name.equals("<init>") && SELF_SEEDING.contains(owner) && arguments == 0) {
      return true;
    }
    boolean readsTheClock = owner.startsWith("java.time.") && name.equals("now");
    boolean runsElsewhere =
        (owner.equals("java.util.concurrent.CompletableFuture")
                || owner.equals("java.util.concurrent.CompletionStage"))
            && name.endsWith("Async");
    boolean runsInParallel = name.equals("parallelStream") || name.equals("parallel");
    boolean shufflesByItself =
        owner.equals("java.util.Collections") && name.equals("shuffle") && arguments == 1;
    return readsTheClock || runsElsewhere || runsInParallel || shufflesByItself;
  }
}
