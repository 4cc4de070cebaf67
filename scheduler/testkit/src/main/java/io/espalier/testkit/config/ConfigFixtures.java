package io.espalier.testkit.config;

import io.espalier.core.config.Config;
import io.espalier.core.config.Job;
import io.espalier.core.config.read.ConfigParser;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import java.util.ArrayList;
import java.util.List;

/** Builds configurations from text in which quotes may be single, {@code {'enabled': true}}. */
public final class ConfigFixtures {
  public static final List<String> POLICIES =
      List.of("roundrobin", "randomized_priority", "ranked_priority", "long_tail", "fair_share");
  public static final List<String> WORKER_SELECTORS = List.of("roundrobin", "busiest");
  public static final List<String> NODE_SOURCES =
      List.of(
          "add_time",
          "empty",
          "file",
          "http",
          "manual",
          "prometheus",
          "range_label",
          "script",
          "sql",
          "zookeeper");

  private ConfigFixtures() {}

  /** Returns a parser that knows the names of all parts of Espalier. */
  public static ConfigParser parser() {
    return new ConfigParser(POLICIES, WORKER_SELECTORS, NODE_SOURCES);
  }

  /**
   * Parses a text, positions included.
   *
   * @throws IllegalArgumentException when it is not JSON
   */
  public static Json json(String text) {
    Result<Json> result = JsonReader.config().read(text.replace('\'', '"'));
    Json value = result.value();
    if (value == null) {
      throw new IllegalArgumentException(result.problems() + " in " + text);
    }
    return value;
  }

  /** Parses a text that must be JSON but may have other errors. */
  public static Result<Config> parse(String text) {
    return parser().parse(json(text));
  }

  /**
   * Returns a configuration without errors; warnings are allowed.
   *
   * @throws IllegalArgumentException when there is an error
   */
  public static Config config(String text) {
    Result<Config> result = parse(text);
    List<Problem> errors = result.problems().stream().filter(Problem::isError).toList();
    Config config = result.value();
    if (config == null || !errors.isEmpty()) {
      throw new IllegalArgumentException(errors + " in " + text);
    }
    return config;
  }

  /**
   * Parses a configuration with job foo on nodes of the levels host and db.
   *
   * @param settings further settings, each after a comma
   * @param members of the job, besides its owner, each after a comma
   */
  public static Config jobFoo(String settings, String members) {
    return withJobs(
        "{'nodes': {'levels': ['host', 'db'], 'node_sources': [{'source': 'empty'}]},"
            + " 'resources': {}"
            + settings
            + "}",
        "foo",
        "{'owner': 'o'" + members + "}");
  }

  /**
   * Parses {@code bistro_settings} and jobs given alternately as {@code "NAME", "{...}"}.
   *
   * @throws IllegalArgumentException when the settings have an error; jobs may have errors
   */
  public static Config withJobs(String settings, String... namesAndJobs) {
    List<String> members = new ArrayList<>();
    members.add("'bistro_settings': " + settings);
    for (int i = 0; i < namesAndJobs.length; i += 2) {
      members.add("'bistro_job->" + namesAndJobs[i] + "': " + namesAndJobs[i + 1]);
    }
    Result<Config> result = parse("{" + String.join(",\n", members) + "}");
    Config config = result.value();
    if (config == null) {
      throw new IllegalArgumentException(result.problems().toString());
    }
    return config;
  }

  /** Returns the job with that name, which must exist. */
  public static Job job(Config config, String name) {
    Job job = config.job(name);
    if (job == null) {
      throw new IllegalArgumentException("no job " + name + " in " + config.jobs().keySet());
    }
    return job;
  }
}
