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
import io.espalier.nodes.ParentAlternatives;
import io.espalier.nodes.Prefs;
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
 * the directory of the configuration; {@code args}, passed before the parent's name, which is
 * always the last argument; {@code timeout_sec} for each run (60); {@code refresh_sec}; {@code
 * parallelism} (twice the cores, at most 8). A scheduler passes its data directory as {@code
 * ESPALIER_DATA_DIR}. A line is a name, or a JSON object as {@link ScriptLineParser} describes.
 *
 * <p>All or nothing: an exit code other than 0, a run that takes too long, or an empty or unusable
 * line makes the whole fetch fail, stops the other runs and delivers nothing. Limits per fetch:
 * 10,000,000 nodes, 1 GiB of output, 1 MiB per line.
 */
public final class ScriptNodes implements NodeSource {
  /** The maximum number of nodes of one fetch. */
  public static final long MAX_NODES = 10_000_000;

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
  private final Optional<Duration> refresh;

  private ScriptNodes(
      int parentLevel,
      Path script,
      List<String> args,
      Duration timeout,
      int parallelism,
      String dataDirectory,
      String path,
      Optional<Duration> refresh) {
    this.parentLevel = parentLevel;
    this.script = script;
    this.args = List.copyOf(args);
    this.timeout = timeout;
    this.parallelism = parallelism;
    this.dataDirectory = dataDirectory;
    this.path = path;
    this.refresh = refresh;
  }

  @Override
  public Optional<Duration> refreshEvery() {
    return refresh;
  }

  @Override
  public void fetch(NodeLookup soFar, Instant now, NodeSink sink)
      throws NodeSourceException, InterruptedException {
    List<String> parents = soFar.names(parentLevel);
    checkScript();
    if (parents.isEmpty()) {
      return;
    }
    int threads = Math.min(parallelism, parents.size());
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
      for (int i = 0; i < parents.size(); i++) {
        for (; next < parents.size() && next < i + threads * AHEAD; next++) {
          String parent = parents.get(next);
          runs.add(runners.submit(() -> run(parent, budget, readers)));
        }
        ScriptOutput output = await(runs);
        delivery.take(parents.get(i), output);
      }
      delivery.finish();
    } finally {
      stop(runners);
      readers.shutdownNow();
      removeHook(atExit);
    }
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

  private ScriptOutput run(String parent, AtomicLong budget, ExecutorService readers)
      throws NodeSourceException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(script.toString());
    command.addAll(args);
    command.add(parent);
    try {
      for (String argument : command) {
        checkEncodable(argument);
      }
      return new ScriptRun(command, dataDirectory, timeout, budget, readers).run();
    } catch (ScriptException e) {
      throw new NodeSourceException(
          List.of(problem("the script " + script + " for \"" + parent + "\" " + e.getMessage())));
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

    void take(String parent, ScriptOutput output) throws NodeSourceException, InterruptedException {
      output.forEachLine((number, text) -> line(parent, number, text));
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (problems.size() >= MAX_PROBLEMS) {
        finish();
      }
    }

    private boolean line(String parent, long number, @Nullable String text) {
      try {
        ScriptLineParser line = ScriptLineParser.parse(text);
        if (++nodes > MAX_NODES) {
          problems.add(problem("the scripts deliver more than %,d nodes".formatted(MAX_NODES)));
          return false;
        }
        if (problems.isEmpty()) {
          if (parentLevel == 0 && !line.alternatives().isEmpty()) {
            throw new ScriptLineParser.Unusable(
                "has alternatives to the instance, and there are none");
          }
          NodeSpec node =
              new NodeSpec(
                  parentLevel + 1,
                  line.name(),
                  parent,
                  parentLevel,
                  line.enabled(),
                  line.tags(),
                  line.attributes(),
                  line.role());
          ParentAlternatives.deliver(node, line.alternatives(), sink);
        }
      } catch (ScriptLineParser.Unusable e) {
        problems.add(
            problem(
                "line "
                    + number
                    + " of what the script "
                    + script
                    + " wrote for \""
                    + parent
                    + "\" "
                    + e.getMessage()));
      }
      return problems.size() < MAX_PROBLEMS;
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
                  refresh));
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
