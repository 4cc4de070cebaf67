package io.espalier.nodes.script;

import io.espalier.core.config.Levels;
import io.espalier.core.config.NodeSourceSpec;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.core.topology.NodeLookup;
import io.espalier.core.topology.NodeSink;
import io.espalier.core.topology.NodeSource;
import io.espalier.core.topology.NodeSourceContext;
import io.espalier.core.topology.NodeSourceException;
import io.espalier.core.topology.NodeSourceType;
import io.espalier.core.topology.NodeSpec;
import io.espalier.core.topology.PushDown;
import io.espalier.nodes.NodeRow;
import io.espalier.nodes.ParentAlternatives;
import io.espalier.nodes.Prefs;
import io.espalier.nodes.UnusableNodeException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * {@code script}: runs a program for every node of a level; each line of its standard output is a
 * child of that node, in that order (docs/design/bistro.md#the-source-script).
 *
 * <p>Preferences: {@code parent_level}; {@code script}, an executable file, absolute or relative to
 * the directory of the configuration; {@code args}, passed before the parent's name, which is the
 * last argument unless an argument says where it goes: {@code {parent}} in it is the name, and the
 * argument {@code {parents}} becomes up to {@value #PARENTS_PER_RUN} arguments, whose children one
 * run lists as objects with {@code parent}; {@code push_down} as in {@link Prefs#pushDown}; {@code
 * timeout_sec} for each run (60); {@code refresh_sec}; {@code parallelism} (twice the cores, at
 * most 8). A scheduler passes its data directory as {@code ESPALIER_DATA_DIR}. A line is a name, or
 * a JSON object as {@link ScriptLineParser} describes.
 *
 * <p>All or nothing: an exit code other than 0, a run that takes too long, or an empty or unusable
 * line makes the whole fetch fail, stops the other runs and delivers nothing. Limits per fetch:
 * 10,000,000 nodes, 1 GiB of output, 1 MiB per line.
 */
public final class ScriptNodes implements NodeSource {
  /** The maximum number of nodes of one fetch. */
  public static final long MAX_NODES = 10_000_000;

  static final int PARENTS_PER_RUN = 500;

  private static final String PARENT = "{parent}";
  private static final String PARENTS = "{parents}";

  /** The number of unusable lines that are listed before reading stops. */
  private static final int MAX_PROBLEMS = 20;

  /** Runs per unit of parallelism that may end before their turn, which limits the memory. */
  private static final int AHEAD = 4;

  private final int parentLevel;
  private final Path script;
  private final List<String> args;
  private final Duration timeout;
  private final int parallelism;
  private final String dataDirectory;
  private final String path;
  private final PushDown pushDown;
  private final Optional<Duration> refresh;

  private ScriptNodes(
      int parentLevel,
      Path script,
      List<String> args,
      Duration timeout,
      int parallelism,
      String dataDirectory,
      String path,
      PushDown pushDown,
      Optional<Duration> refresh) {
    this.parentLevel = parentLevel;
    this.script = script;
    this.args = List.copyOf(args);
    this.timeout = timeout;
    this.parallelism = parallelism;
    this.dataDirectory = dataDirectory;
    this.path = path;
    this.pushDown = pushDown;
    this.refresh = refresh;
  }

  @Override
  public Optional<Duration> refreshEvery() {
    return refresh;
  }

  @Override
  public PushDown pushDown() {
    return pushDown;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    List<List<String>> batches = batches(soFar.names(parentLevel));
    checkScript();
    if (batches.isEmpty()) {
      return;
    }
    int threads = Math.min(parallelism, batches.size());
    ExecutorService runners = Executors.newFixedThreadPool(threads, threads("script-runner-"));
    ExecutorService readers = Executors.newCachedThreadPool(threads("script-reader-"));
    // Scripts have sessions of their own: a Ctrl-C that ends this program does not reach them.
    Thread atExit = new Thread(() -> stop(runners), "scripts-at-exit");
    boolean exiting = !addHook(atExit);
    try {
      if (exiting) {
        throw new InterruptedException("this program is ending");
      }
      Delivery delivery = new Delivery(sink);
      AtomicLong budget = new AtomicLong(ScriptOutput.MAX_BYTES);
      Deque<Future<ScriptOutput>> runs = new ArrayDeque<>();
      int next = 0;
      for (int i = 0; i < batches.size(); i++) {
        for (; next < batches.size() && next < i + threads * AHEAD; next++) {
          List<String> parents = batches.get(next);
          runs.add(runners.submit(() -> run(parents, budget, readers)));
        }
        ScriptOutput output = await(runs);
        delivery.take(batches.get(i), output);
      }
      delivery.finish();
    } finally {
      stop(runners);
      readers.shutdownNow();
      removeHook(atExit);
    }
  }

  private boolean runsForMany() {
    return args.contains(PARENTS);
  }

  private List<List<String>> batches(List<String> parents) {
    int step = runsForMany() ? PARENTS_PER_RUN : 1;
    List<List<String>> batches = new ArrayList<>();
    for (int i = 0; i < parents.size(); i += step) {
      batches.add(parents.subList(i, Math.min(parents.size(), i + step)));
    }
    return batches;
  }

  private static boolean addHook(Thread hook) {
    try {
      Runtime.getRuntime().addShutdownHook(hook);
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This program is ending, and the hook stops the scripts.
    }
  }

  private void checkScript() throws NodeSourceException {
    String why = null;
    if (!Files.exists(script)) {
      why = "there is no file " + script;
    } else if (!Files.isRegularFile(script)) {
      why = script + " is not a file";
    } else if (!Files.isExecutable(script)) {
      why = script + " is not executable";
    }
    if (why != null) {
      Problem problem = Problem.error(path + ".prefs.script", why);
      boolean modeOnly = Files.isRegularFile(script);
      throw new NodeSourceException(
          List.of(modeOnly ? problem.withHint("chmod +x " + script) : problem));
    }
  }

  private List<String> command(List<String> parents) {
    List<String> command = new ArrayList<>();
    command.add(script.toString());
    for (String argument : args) {
      if (argument.equals(PARENTS)) {
        command.addAll(parents);
      } else {
        command.add(runsForMany() ? argument : argument.replace(PARENT, parents.get(0)));
      }
    }
    if (!runsForMany() && args.stream().noneMatch(argument -> argument.contains(PARENT))) {
      command.add(parents.get(0));
    }
    return command;
  }

  /** Names the parents of one run, for people. */
  private static String of(List<String> parents) {
    String first = "\"" + parents.get(0) + "\"";
    return parents.size() == 1 ? first : first + " and " + (parents.size() - 1) + " others";
  }

  private ScriptOutput run(List<String> parents, AtomicLong budget, ExecutorService readers)
      throws NodeSourceException, InterruptedException {
    List<String> command = command(parents);
    try {
      for (String argument : command) {
        checkEncodable(argument);
      }
      return new ScriptRun(command, dataDirectory, timeout, budget, readers).run();
    } catch (ScriptException e) {
      throw new NodeSourceException(
          List.of(problem("the script " + script + " for " + of(parents) + " " + e.getMessage())));
    }
  }

  /**
   * Refuses an argument that the locale of this program cannot express: Java would silently replace
   * characters.
   */
  private static void checkEncodable(String argument) throws ScriptException {
    String name = System.getProperty("sun.jnu.encoding", "UTF-8");
    Charset charset = Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
    if (!charset.newEncoder().canEncode(argument)) {
      throw new ScriptException(
          "cannot be given the argument \""
              + argument
              + "\": the locale of this program knows only "
              + charset
              + "; start it with LC_ALL=C.UTF-8");
    }
  }

  private ScriptOutput await(Deque<Future<ScriptOutput>> runs)
      throws NodeSourceException, InterruptedException {
    try {
      return runs.remove().get();
    } catch (ExecutionException e) {
      List<Problem> problems = new ArrayList<>(problemsOf(e));
      for (Future<ScriptOutput> other : runs) {
        if (other.isDone() && problems.size() < MAX_PROBLEMS) {
          problems.addAll(problemsOf(other));
        }
      }
      throw new NodeSourceException(problems);
    }
  }

  private List<Problem> problemsOf(Future<ScriptOutput> ended) throws InterruptedException {
    try {
      ended.get();
      return List.of();
    } catch (ExecutionException e) {
      return problemsOf(e);
    }
  }

  private List<Problem> problemsOf(ExecutionException e) {
    return e.getCause() instanceof NodeSourceException expected
        ? expected.problems()
        : List.of(problem("the script " + script + " could not be run: " + e.getCause()));
  }

  private Problem problem(String message) {
    return Problem.error(path, message);
  }

  /** Interrupts the runs, which then kill their processes, and waits until they have. */
  private static void stop(ExecutorService runners) {
    runners.shutdownNow();
    boolean interrupted = false;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!runners.isTerminated() && System.nanoTime() < deadline) {
      try {
        if (runners.awaitTermination(1, TimeUnit.SECONDS)) {
          break;
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static ThreadFactory threads(String prefix) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, prefix + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Turns output into nodes as long as there is no problem. */
  private final class Delivery {
    private final NodeSink sink;
    private final List<Problem> problems = new ArrayList<>();
    private long nodes;

    Delivery(NodeSink sink) {
      this.sink = sink;
    }

    void take(List<String> parents, ScriptOutput output)
        throws NodeSourceException, InterruptedException {
      output.forEachLine((number, text) -> line(parents, number, text));
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (problems.size() >= MAX_PROBLEMS) {
        finish();
      }
    }

    private boolean line(List<String> parents, long number, @Nullable String text) {
      try {
        NodeRow line = ScriptLineParser.parse(text);
        if (++nodes > MAX_NODES) {
          problems.add(problem("the scripts deliver more than %,d nodes".formatted(MAX_NODES)));
          return false;
        }
        if (problems.isEmpty()) {
          if (parentLevel == 0 && !line.alternatives().isEmpty()) {
            throw new UnusableNodeException("has alternatives to the instance, and there are none");
          }
          NodeSpec node =
              new NodeSpec(
                  parentLevel + 1,
                  line.name(),
                  parentOf(line, parents),
                  parentLevel,
                  line.enabled(),
                  line.tags(),
                  line.attributes(),
                  line.role());
          ParentAlternatives.deliver(node, line.alternatives(), sink);
        }
      } catch (UnusableNodeException e) {
        problems.add(
            problem(
                "line "
                    + number
                    + " of what the script "
                    + script
                    + " wrote for "
                    + of(parents)
                    + " "
                    + e.getMessage()));
      }
      return problems.size() < MAX_PROBLEMS;
    }

    private String parentOf(NodeRow line, List<String> parents) throws UnusableNodeException {
      String own = line.parent();
      if (runsForMany()) {
        if (own == null && line.alternatives().isEmpty()) {
          throw new UnusableNodeException("names no \"parent\", and the run is for {parents}");
        }
        return own == null ? parents.get(0) : own;
      }
      if (own != null && !own.equals(parents.get(0))) {
        throw new UnusableNodeException("names another \"parent\", \"" + own + "\"");
      }
      return parents.get(0);
    }

    void finish() throws NodeSourceException {
      if (!problems.isEmpty()) {
        throw new NodeSourceException(problems);
      }
    }
  }

  /** Checks the preferences and creates the source. */
  public static final class Type implements NodeSourceType {
    private static final int MOST_PARALLEL = 256;

    @Override
    public String name() {
      return "script";
    }

    @Override
    public Result<NodeSource> create(
        NodeSourceSpec spec, Levels levels, NodeSourceContext context) {
      Prefs prefs = new Prefs(spec);
      int parentLevel = prefs.parentLevel(levels);
      Path script = script(prefs, context.configDirectory());
      List<String> args = prefs.strings("args");
      for (int i = 0; i < args.size(); i++) {
        if (args.get(i).indexOf('\0') >= 0) {
          prefs.error(
              prefs.at("args") + "[" + i + "]",
              prefs.object().keyAt("args"),
              null,
              "an argument cannot contain the character NUL");
        }
      }
      checkPlaceholders(args, prefs);
      // Without a placeholder the parent's name is the last argument.
      PushDown pushDown = prefs.pushDown(true, parentLevel);
      Duration timeout = prefs.timeout();
      Optional<Duration> refresh = prefs.refresh();
      int cores = Runtime.getRuntime().availableProcessors();
      int parallelism =
          (int) prefs.integer("parallelism", Math.min(8, 2L * cores), 1, MOST_PARALLEL);
      return prefs.finish(
          () ->
              new ScriptNodes(
                  parentLevel,
                  script,
                  args,
                  timeout,
                  parallelism,
                  context.dataDirectory(),
                  spec.path(),
                  pushDown,
                  refresh));
    }

    private static void checkPlaceholders(List<String> args, Prefs prefs) {
      long lists = args.stream().filter(argument -> argument.contains(PARENTS)).count();
      boolean whole = lists == 0 || args.contains(PARENTS);
      boolean both = lists > 0 && args.stream().anyMatch(argument -> argument.contains(PARENT));
      if (lists > 1 || !whole || both) {
        prefs.error(
            prefs.at("args"),
            prefs.object().keyAt("args"),
            prefs.object().get("args"),
            "{parents} must be one whole argument, without {parent} in another");
      }
    }

    private static Path script(Prefs prefs, String configDirectory) {
      Path nowhere = Path.of("/");
      String text = prefs.requireString("script", "the path of an executable file");
      if (text == null) {
        return nowhere;
      }
      try {
        if (!text.isEmpty()) {
          Path path = Path.of(text);
          if (path.isAbsolute() || !configDirectory.isEmpty()) {
            return Path.of(configDirectory).resolve(path).toAbsolutePath();
          }
          scriptError(prefs, "must be an absolute path: this configuration has no directory");
        } else {
          scriptError(prefs, "the path is empty");
        }
      } catch (InvalidPathException e) {
        scriptError(prefs, "is not a path: " + e.getReason());
      }
      return nowhere;
    }

    private static void scriptError(Prefs prefs, String message) {
      prefs.error(
          prefs.at("script"),
          prefs.object().keyAt("script"),
          prefs.object().get("script"),
          message);
    }
  }
}
