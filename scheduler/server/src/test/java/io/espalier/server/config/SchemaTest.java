package io.espalier.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import com.networknt.schema.ValidationMessage;
import io.espalier.core.config.Config;
import io.espalier.core.config.ConfigPlace;
import io.espalier.core.json.Json;
import io.espalier.core.problem.Problem;
import io.espalier.core.problem.Result;
import io.espalier.json.JsonReader;
import io.espalier.testkit.config.ConfigFixtures;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The JSON Schema says the same as the parser. */
class SchemaTest {
  private static final String SCHEMA_TEXT = read();
  private static final JsonSchema SCHEMA =
      JsonSchemaFactory.getInstance(VersionFlag.V202012).getSchema(SCHEMA_TEXT, InputFormat.JSON);

  /** What parser and schema say of a document. */
  private enum Verdict {
    /** Both accept. */
    GOOD,
    /** Both refuse. */
    BAD,
    /** Only the parser sees the error: it needs to look at two places at once. */
    BAD_FOR_PARSER,
    /** The schema is what {@code --strict} is: it refuses what the parser warns of. */
    WARNED
  }

  private record Row(Verdict verdict, String document) {
    @Override
    public String toString() {
      return verdict + " " + document;
    }
  }

  private static String read() {
    try (InputStream in = SchemaTest.class.getResourceAsStream("/espalier-config.schema.json")) {
      return new String(
          Objects.requireNonNull(in, "the schema").readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final String SETTINGS =
      "'nodes': {'levels': ['host', 'db'], 'node_sources': [{'source': 'empty'}]},"
          + "'resources': {'host': {'slots': {'default': 1, 'limit': 2}},"
          + "'worker': {'ram': {'default': 0, 'limit': 9}}}";

  private static String settings(String member) {
    return "{'bistro_settings': {" + SETTINGS + ", " + member + "}}";
  }

  private static String onlySettings(String members) {
    return "{'bistro_settings': {" + members + "}}";
  }

  private static String nodes(String members) {
    return onlySettings("'nodes': {" + members + "}, 'resources': {}");
  }

  private static String resources(String value) {
    return onlySettings(
        "'nodes': {'levels': ['host'], 'node_sources': [{'source': 'empty'}]},"
            + " 'resources': "
            + value);
  }

  private static String job(String members) {
    return "{'bistro_settings': {" + SETTINGS + "}, 'bistro_job->j': {" + members + "}}";
  }

  private static String owned(String member) {
    return job("'owner': 'o', " + member);
  }

  private final List<Row> rows = new ArrayList<>();

  private void add(Verdict verdict, UnaryOperator<String> frame, String... members) {
    for (String member : members) {
      rows.add(new Row(verdict, frame.apply(member)));
    }
  }

  /** One key with good and bad values, in a frame. */
  private void key(UnaryOperator<String> frame, String key, List<String> good, List<String> bad) {
    good.forEach(value -> add(Verdict.GOOD, frame, "'" + key + "': " + value));
    bad.forEach(value -> add(Verdict.BAD, frame, "'" + key + "': " + value));
  }

  private static final List<String> NO_BOOL = List.of("null", "2", "'yes'", "[]", "{}");
  private static final List<String> BOOLS =
      List.of("true", "false", "0", "1", "1.0", "'true'", "'0'");
  private static final List<String> NO_TEXT = List.of("null", "true", "[]", "{}");
  private static final List<String> NO_NUMBER = List.of("null", "'x'", "true", "[]", "{}", "''");
  private static final List<String> NO_NUMBER_OR_FALSE =
      List.of("null", "'x'", "true", "[]", "{}", "''");
  private static final List<String> NO_OBJECT = List.of("null", "1", "'x'", "true", "[]");
  private static final List<String> NO_LIST = List.of("null", "1", "'x'", "true", "{}");

  static Stream<Row> rows() {
    SchemaTest table = new SchemaTest();
    table.documents();
    table.ofSettings();
    table.ofNodesAndResources();
    table.ofJobs();
    table.ofRates();
    table.ofBoth(SchemaTest::settings);
    table.ofBoth(SchemaTest::owned);
    table.ofProcesses(SchemaTest::settings);
    table.ofProcesses(SchemaTest::owned);
    table.ofLimits(SchemaTest::settings);
    table.ofLimits(SchemaTest::owned);
    table.ofDeadlines();
    table.ofOutcomes(SchemaTest::settings);
    table.ofOutcomes(SchemaTest::owned);
    table.ofQueues();
    return table.rows.stream();
  }

  private void documents() {
    UnaryOperator<String> same = text -> text;
    add(Verdict.BAD, same, "{}", "[]", "null", "'x'", "1", "{'bistro_settings': []}");
    add(Verdict.GOOD, SchemaTest::settings, "'_': 1", "'// why': {}", "'_x': null");
    add(
        Verdict.GOOD,
        member -> "{'bistro_settings': {" + SETTINGS + "}, " + member + "}",
        "'$schema': 'x'",
        "'_comment': []",
        "'//': 1",
        "'bistro_job->a.b:c-D_9': {'owner': 'o'}");
    add(
        Verdict.BAD,
        member -> "{'bistro_settings': {" + SETTINGS + "}, " + member + "}",
        "'bistro_job->': {'owner': 'o'}",
        "'bistro_job->../x': {'owner': 'o'}",
        "'bistro_job->a b': {'owner': 'o'}",
        "'bistro_job->x': []",
        "'bistro_job->x': null",
        "'bistro_job->x': 'y'",
        "'bistro_job->x': {}",
        "'bistro_job->" + "x".repeat(240) + "': {'owner': 'o'}");
    add(
        Verdict.WARNED,
        member -> "{'bistro_settings': {" + SETTINGS + "}, " + member + "}",
        "'bistro_jobs->x': {}",
        "'colour': 1",
        "'bistro_job->x': {'owner': 'o', 'colour': 1}");
    add(Verdict.WARNED, SchemaTest::settings, "'colour': 'red'");
    add(Verdict.BAD, SchemaTest::settings, "'enable': true", "'backof': [1]");
    add(Verdict.BAD, SchemaTest::owned, "'enable': true", "'depends-on': []");
  }

  private void ofSettings() {
    key(SchemaTest::settings, "enabled", BOOLS, NO_BOOL);
    key(SchemaTest::settings, "working_wait", List.of("0", "0.5", "'2.5'", "86400"), NO_NUMBER);
    key(SchemaTest::settings, "working_wait", List.of(), List.of("-1", "86401"));
    key(SchemaTest::settings, "idle_wait", List.of("5"), NO_NUMBER);
    add(Verdict.BAD_FOR_PARSER, SchemaTest::settings, "'idle_wait': '-1'", "'idle_wait': '1e9'");
    key(SchemaTest::settings, "scheduler", List.of("'long_tail'"), NO_TEXT);
    key(SchemaTest::settings, "remote_worker_selector", List.of("'busiest'"), NO_TEXT);
    add(
        Verdict.BAD_FOR_PARSER,
        SchemaTest::settings,
        "'scheduler': 'x'",
        "'scheduler': 7",
        "'remote_worker_selector': 'x'");
    key(SchemaTest::settings, "level_for_tasks", List.of("'host'", "'instance'"), NO_TEXT);
    add(Verdict.BAD_FOR_PARSER, SchemaTest::settings, "'level_for_tasks': 'x'");
    key(SchemaTest::settings, "node_order", List.of("'original'"), List.of("'x'", "1", "null"));
    key(
        SchemaTest::settings,
        "CAUTION_exit_initial_wait_before_timestamp",
        List.of("0", "123", "'123'", "253402300799"),
        List.of("-1", "1.5", "253402300800", "null", "true", "[]", "'x'"));
    key(
        SchemaTest::settings,
        "worker_resources_override",
        List.of("{}", "{'h:1': {}}", "{'h': {'ram': 3}}", "{'_': 1}", "{'h': {'_': 'x'}}"),
        NO_OBJECT);
    key(
        SchemaTest::settings,
        "worker_resources_override",
        List.of(),
        List.of("{'h': 1}", "{'h': {'ram': -1}}", "{'h': {'ram': []}}", "{'h': {'ram': 1.5}}"));
    key(
        SchemaTest::settings,
        "worker_resources_overrides",
        List.of("{'h': {'ram': '3'}}"),
        NO_OBJECT);
    add(
        Verdict.BAD_FOR_PARSER,
        SchemaTest::settings,
        "'worker_resources_override': {'h': {'slots': 1}}",
        "'worker_resources_override': {'h': {'nope': 1}}");
    add(
        Verdict.BAD,
        SchemaTest::settings,
        "'worker_resources_override': {}, 'worker_resources_overrides': {}");
    nodeLimits();
    String ram = "{'ram_mb': {'logical_resource': 'ram', ";
    key(
        SchemaTest::settings,
        "physical_resources",
        List.of(
            "{}",
            "{'_': 0}",
            "{'ram_mb': {'logical_resource': 'ram'}}",
            ram + "'enforcement': 'hard'}}",
            ram + "'multiply_logical_by': '0.5'}}",
            ram + "'physical_reserve_amount': -5}}",
            "{'cpu_core': {'logical_resource': 'ram', 'enforcement': 'soft'}}",
            "{'gpu_card': {'logical_resource': 'ram', 'enforcement': 'none'}}"),
        NO_OBJECT);
    key(
        SchemaTest::settings,
        "physical_resources",
        List.of(),
        List.of(
            "{'disk': {'logical_resource': 'ram'}}",
            "{'ram_mb': {}}",
            "{'ram_mb': []}",
            "{'ram_mb': {'logical_resource': []}}",
            ram + "'enforcement': 'soft'}}",
            ram + "'multiply_logical_by': 0}}",
            ram + "'multiply_logical_by': null}}",
            ram + "'physical_reserve_amount': 'x'}}",
            "{'cpu_core': {'logical_resource': 'ram', 'enforcement': 'hard'}}",
            "{'gpu_card': {'logical_resource': 'ram', 'enforcement': 'soft'}}"));
  }

  private void nodeLimits() {
    UnaryOperator<String> entry =
        member -> settings("'node_resources_override': [{'level': 'host', " + member + "}]");
    String limits = ", 'limits': {'slots': 3}";
    key(SchemaTest::settings, "node_resources_override", List.of("[]"), NO_LIST);
    add(Verdict.BAD, SchemaTest::settings, "'node_resources_override': [1]");
    for (String key : List.of("name", "tag", "regex")) {
      add(Verdict.GOOD, entry, "'" + key + "': 'x'" + limits, "'" + key + "': 7, 'limits': {}");
      add(Verdict.BAD, entry, "'" + key + "': []" + limits, "'" + key + "': 'x'");
      add(Verdict.BAD, entry, "'" + key + "': 'x', 'limits': {'slots': -1}");
      add(Verdict.BAD, entry, "'" + key + "': 'x', 'value': 1" + limits);
      add(Verdict.BAD, entry, "'" + key + "': 'x', 'resource': 'slots'" + limits);
      add(Verdict.BAD_FOR_PARSER, entry, "'" + key + "': ''" + limits);
      add(Verdict.BAD_FOR_PARSER, entry, "'" + key + "': 'x', 'limits': {'ram': 1}");
    }
    add(
        Verdict.GOOD,
        entry,
        "'attribute': 'a', 'value': true" + limits,
        "'attribute': 'a', 'resource': 'slots'",
        "'attribute': 'a', 'value': 7, '_why': 1" + limits);
    add(
        Verdict.BAD,
        entry,
        "'attribute': 'a'",
        "'attribute': []" + limits,
        "'attribute': 'a'" + limits,
        "'attribute': 'a', 'value': 1",
        "'attribute': 'a', 'value': []" + limits,
        "'attribute': 'a', 'resource': []",
        "'attribute': 'a', 'resource': 'slots'" + limits,
        "'attribute': 'a', 'name': 'b'" + limits,
        "'name': 'a', 'nam': 'b'" + limits,
        "'name': 'a', 'limits': {'slots': 2147483648}");
    add(
        Verdict.BAD_FOR_PARSER,
        entry,
        "'regex': '('" + limits,
        "'attribute': 'a', 'resource': 'ram'",
        "'attribute': 'a', 'resource': 'nope'");
    UnaryOperator<String> list = text -> settings("'node_resources_override': [" + text + "]");
    add(Verdict.GOOD, list, "{'level': 'worker', 'name': 'h:1', 'limits': {'ram': 1}}");
    add(
        Verdict.BAD,
        list,
        "{'level': [], 'name': 'h', 'limits': {}}",
        "{'name': 'h', 'limits': {}}");
    add(
        Verdict.BAD_FOR_PARSER,
        list,
        "{'level': 'x', 'name': 'h', 'limits': {}}",
        "{'level': 'worker', 'tag': 'h', 'limits': {'ram': 1}}");
    UnaryOperator<String> resource =
        member -> resources("{'host': {'r': {'default': 1, 'limit': 1, " + member + "}}}");
    key(
        resource,
        "kill_over_limit_after_sec",
        List.of("false", "0", "2.5", "'60'"),
        List.of("true", "-1", "null", "[]", "'x'", "1e10"));
    add(Verdict.BAD_FOR_PARSER, resource, "'kill_over_limit_after_sec': '-1'");
  }

  private void ofNodeSources() {
    UnaryOperator<String> source =
        member -> nodes("'levels': [], 'node_sources': [{'source': 'empty', " + member + "}]");
    key(source, "allow_change", List.of("'0123456789ab'"), List.of("'0123456789AB'", "'x'", "{}"));
    key(source, "allow_change", BOOLS, List.of());
    key(source, "change_guard", List.of("{}", "{'_why': 1}"), NO_OBJECT);
    add(Verdict.BAD, source, "'change_guard': {'removed_percnt': 3}");
    UnaryOperator<String> guard = member -> source.apply("'change_guard': {" + member + "}");
    key(guard, "enabled", BOOLS, NO_BOOL);
    key(guard, "removed_percent", List.of("0", "0.5", "100", "'20'"), NO_NUMBER);
    key(guard, "removed_percent", List.of(), List.of("-1", "100.1"));
    key(guard, "added_percent", List.of("0", "1000", "'20'"), List.of("-1", "1e10", "'x'"));
    key(guard, "reparented_percent", List.of("0", "100", "'5'"), List.of("-1", "101", "'x'"));
    key(guard, "confirmations", List.of("0", "3", "'5'"), List.of("-1", "1.5", "'x'"));
  }

  private void ofNodesAndResources() {
    key(SchemaTest::onlySettings, "nodes", List.of(), List.of("{'levels': []}"));
    key(SchemaTest::onlySettings, "resources", List.of(), List.of("{}"));
    key(
        member -> onlySettings(member + ", 'resources': {}"),
        "nodes",
        List.of("{'levels': []}"),
        List.of("{}", "[]", "null", "1", "'x'"));
    key(SchemaTest::nodes, "levels", List.of("[]", "['a']", "['a b', 7]"), NO_LIST);
    key(
        SchemaTest::nodes,
        "levels",
        List.of(),
        List.of("['instance']", "['worker']", "['']", "['a\\u0000']", "[null]", "[[]]", "[true]"));
    add(Verdict.WARNED, SchemaTest::nodes, "'levels': ['a', 'a']");
    UnaryOperator<String> more = member -> nodes("'levels': [], " + member);
    key(
        more,
        "node_sources",
        List.of(
            "[{'source': 'empty'}]",
            "[{'source': 'manual', 'prefs': {'a': 1}}]",
            "[{'source': 'x'}]"),
        NO_LIST);
    key(
        more,
        "node_sources",
        List.of(),
        List.of(
            "[1]",
            "[{}]",
            "[{'source': null}]",
            "[{'source': 'manual', 'prefs': []}]",
            "[{'source': 'manual', 'pref': {}}]"));
    add(Verdict.WARNED, more, "'node_sources': []");
    ofNodeSources();
    key(
        more,
        "node_order",
        List.of("'random'", "'original'", "'lexicographic'"),
        List.of("'x'", "null", "1", "[]"));
    add(Verdict.GOOD, more, "'node_source': 'x', 'node_source_prefs': {}");

    for (String good :
        List.of(
            "{}",
            "{'_': 1}",
            "{'host': {}}",
            "{'host': {'_': 1}}",
            "{'host': {'r': {'default': 0, 'limit': 0}}}",
            "{'host': {'a b': {'default': '1', 'limit': 5, 'weight': 3}}}",
            "{'instance': {'r': {'default': 1, 'limit': 1, '_': 1}}}")) {
      rows.add(new Row(Verdict.GOOD, resources(good)));
    }
    for (String bad :
        List.of(
            "[]",
            "null",
            "1",
            "{'host': []}",
            "{'host': {'r': 1}}",
            "{'host': {'r': {}}}",
            "{'host': {'r': {'default': 1}}}",
            "{'host': {'r': {'limit': 1}}}",
            "{'host': {'r': {'default': -1, 'limit': 1}}}",
            "{'host': {'r': {'default': 1, 'limit': -1}}}",
            "{'host': {'r': {'default': 1, 'limit': 1, 'weight': -1}}}",
            "{'host': {'r': {'default': 1.5, 'limit': 1}}}",
            "{'host': {'r': {'default': 1, 'limit': 2147483648}}}",
            "{'host': {'r': {'default': 1, 'limit': null}}}",
            "{'host': {'r': {'default': 1, 'limits': 1}}}")) {
      rows.add(new Row(Verdict.BAD, resources(bad)));
    }
    for (String bad :
        List.of(
            "{'nope': {}}",
            "{'host': {'r': {'default': 1, 'limit': 1}}, 'instance': {'r': {'default': 1, 'limit': 1}}}")) {
      rows.add(new Row(Verdict.BAD_FOR_PARSER, resources(bad)));
    }
  }

  private void ofJobs() {
    key(SchemaTest::job, "owner", List.of("'o'", "''", "7"), NO_TEXT);
    key(SchemaTest::owned, "enabled", BOOLS, NO_BOOL);
    key(SchemaTest::owned, "command", List.of("[]", "['a', '', 7, 'x\\n']"), NO_LIST);
    key(
        SchemaTest::owned,
        "command",
        List.of(),
        List.of("['']", "['a', null]", "['a', '\\u0000']"));
    key(
        SchemaTest::owned,
        "status_from",
        List.of("'status_line'", "'exit_code'"),
        List.of("'exit'", "1", "null", "[]"));
    key(SchemaTest::owned, "priority", List.of("0", "1.3", "'2'", "1e300"), NO_NUMBER);
    key(SchemaTest::owned, "priority", List.of(), List.of("-1"));
    key(SchemaTest::owned, "config", List.of("{}", "{'enable': [null]}"), NO_OBJECT);
    key(
        SchemaTest::owned,
        "resources",
        List.of("{}", "{'slots': 0}", "{'slots': '2', '_': 1}"),
        NO_OBJECT);
    key(
        SchemaTest::owned,
        "resources",
        List.of(),
        List.of("{'slots': -1}", "{'slots': 1.5}", "{'slots': null}"));
    add(Verdict.BAD_FOR_PARSER, SchemaTest::owned, "'resources': {'nope': 1}");
    key(
        SchemaTest::owned,
        "filters",
        List.of(
            "{}",
            "{'host': {}}",
            "{'_': 1}",
            "{'worker': {'_': 1}}",
            "{'db': {'whitelist': ['a', 7], 'whitelist_regex': 'a.*', 'blacklist': [],"
                + "'blacklist_regex': '', 'tag_whitelist': ['t'], 'fraction_of_nodes': 0.5}}",
            "{'db': {'fraction_of_nodes': '0.5'}}",
            "{'db': {'fraction_of_nodes': 0}}"),
        NO_OBJECT);
    key(
        SchemaTest::owned,
        "filters",
        List.of(),
        List.of(
            "{'host': []}",
            "{'host': {'whitelist': 'a'}}",
            "{'host': {'whitelist': [null]}}",
            "{'host': {'blacklist': {}}}",
            "{'host': {'tag_whitelist': 1}}",
            "{'host': {'whitelist_regex': []}}",
            "{'host': {'blacklist_regex': null}}",
            "{'host': {'fraction_of_nodes': 1.5}}",
            "{'host': {'fraction_of_nodes': -0.1}}",
            "{'host': {'fraction_of_nodes': []}}",
            "{'host': {'fraction_of_node': 0.1}}"));
    add(
        Verdict.BAD_FOR_PARSER,
        SchemaTest::owned,
        "'filters': {'nope': {}}",
        "'filters': {'host': {'whitelist_regex': '('}}",
        "'filters': {'host': {'fraction_of_nodes': '2'}}");
    key(SchemaTest::owned, "depends_on", List.of("[]", "['x', 7]"), NO_LIST);
    key(SchemaTest::owned, "depends_on", List.of(), List.of("[null]", "[['x']]"));
    add(Verdict.BAD_FOR_PARSER, SchemaTest::owned, "'depends_on': ['j']");
    String wholeJobs = "run_only_after_all_nodes_are_done_for";
    key(
        SchemaTest::owned,
        wholeJobs,
        List.of("[]", "['x', 7]", "[{'job': 'x', 'done_percent': 99.5, 'tags': ['a']}]"),
        NO_LIST);
    key(
        SchemaTest::owned,
        wholeJobs,
        List.of(),
        List.of(
            "[null]",
            "[['x']]",
            "[{}]",
            "[{'job': []}]",
            "[{'job': 'x', 'done_percent': 0}]",
            "[{'job': 'x', 'done_percent': 101}]",
            "[{'job': 'x', 'tags': 'a'}]",
            "[{'job': 'x', 'tag': ['a']}]"));
    add(Verdict.BAD_FOR_PARSER, SchemaTest::owned, "'" + wholeJobs + "': ['j']");
    key(SchemaTest::owned, "roles", List.of("[]", "['replica']", "['a', 'b_1.x-y']"), NO_LIST);
    key(SchemaTest::owned, "roles", List.of(), List.of("[null]", "['']", "['a b']", "[['x']]"));
    key(SchemaTest::owned, "level_for_tasks", List.of("'db'", "'instance'", "'worker'"), NO_TEXT);
    key(SchemaTest::owned, "level_for_host_placement", List.of("'host'"), NO_TEXT);
    add(
        Verdict.BAD_FOR_PARSER,
        SchemaTest::owned,
        "'level_for_tasks': 'x'",
        "'level_for_host_placement': 'x'");
    key(SchemaTest::owned, "host_placement", List.of("''", "'h.example.com'"), NO_TEXT);
    key(SchemaTest::owned, "host_placement", List.of(), List.of("'a\\nb'"));
    for (String time : List.of("create_time", "modify_time")) {
      key(SchemaTest::owned, time, List.of("0", "1700000000", "'5'"), NO_NUMBER);
      key(SchemaTest::owned, time, List.of(), List.of("-1", "1.5"));
    }
    key(SchemaTest::owned, "version_id", List.of("-1", "123456789012345"), NO_NUMBER);
    key(SchemaTest::owned, "version_id", List.of(), List.of("-2", "0.5", "9223372036854775808"));
    key(SchemaTest::owned, "errors", List.of("{}"), NO_OBJECT);
    key(SchemaTest::owned, "errors", List.of(), List.of("{'error': 'x', 'value': 1}"));
  }

  private void ofBoth(UnaryOperator<String> frame) {
    key(
        frame,
        "backoff",
        List.of("[1]", "[1, 2.0, 3]", "[1, 'repeat']", "['fail']", "[5, 'fail']"),
        NO_LIST);
    key(
        frame,
        "backoff",
        List.of(),
        List.of(
            "[]", "['repeat']", "[0]", "[-1]", "[1.5]", "['1']", "[null]", "[1, 'x']", "[1, {}]"));
    add(Verdict.BAD_FOR_PARSER, frame, "'backoff': [2, 1]", "'backoff': [1, 1]");
    add(Verdict.WARNED, frame, "'backoff': [1, 'fail', 'x']");
    ofRetry(frame);
    key(
        frame,
        "kill_orphan_tasks_after_sec",
        List.of("true", "false", "0", "-1", "0.37"),
        List.of("null", "'5'", "[]", "{}", "1000000001"));
    key(
        frame,
        "task_subprocess",
        List.of(
            "{}",
            "{'poll_ms': -5}",
            "{'poll_ms': '10'}",
            "{'max_log_lines_per_poll_interval': 0}",
            "{'parent_death_signal': 0}",
            "{'process_group_leader': 'true'}",
            "{'use_canary_pipe': false}",
            "{'cgroups': {}}",
            "{'cgroups': {'root': '/sys/fs/cgroup', 'slice': 'a/b', 'subsystems': ['cpu,cpuacct'],"
                + "'kill_without_freezer': 1}}",
            "{'_': 1, 'cgroups': {'_': 1}}"),
        NO_OBJECT);
    key(
        frame,
        "task_subprocess",
        List.of(),
        List.of(
            "{'poll_ms': 1.5}",
            "{'poll_ms': null}",
            "{'max_log_lines_per_poll_interval': []}",
            "{'parent_death_signal': -1}",
            "{'parent_death_signal': 'KILL'}",
            "{'process_group_leader': 2}",
            "{'use_canary_pipe': null}",
            "{'cgroups': []}",
            "{'cgroups': {'root': []}}",
            "{'cgroups': {'slice': '../x'}}",
            "{'cgroups': {'subsystems': 'cpu'}}",
            "{'cgroups': {'subsystems': ['a/b']}}",
            "{'cgroups': {'subsystems': [null]}}",
            "{'cgroups': {'kill_without_freezer': 'no'}}",
            "{'pollms': 1}",
            "{'cgroups': {'rot': ''}}"));
    key(
        frame,
        "kill_subprocess",
        List.of(
            "{}",
            "{'method': 'term'}",
            "{'method': 'term_wait_kill'," + "'kill_wait_ms': 500}",
            "{'method': 'kill', 'kill_wait_ms': -1}"),
        NO_OBJECT);
    key(
        frame,
        "kill_subprocess",
        List.of(),
        List.of(
            "{'method': 'KILL'}",
            "{'method': null}",
            "{'kill_wait_ms': 'soon'}",
            "{'kill_wait_ms': 0.5}",
            "{'kill_wait_m': 1}"));
    key(frame, "kill_request", List.of("{'method': 'kill'}"), NO_OBJECT);
    add(Verdict.BAD, frame, "'kill_request': {}, 'kill_subprocess': {}");
  }

  private void ofRetry(UnaryOperator<String> frame) {
    key(frame, "retry", List.of("{}", "false", "{'_': 1}"), NO_OBJECT);
    UnaryOperator<String> retry = member -> frame.apply("'retry': {" + member + "}");
    for (String key :
        List.of("max_successive_no_progress", "max_total_no_progress", "max_total_progress")) {
      key(retry, key, List.of("1", "2147483647", "'7'"), NO_NUMBER);
      key(retry, key, List.of(), List.of("0", "-1", "1.5", "2147483648", "1e400"));
    }
    key(
        retry,
        "no_progress_backoff_sec",
        List.of("[0]", "[1, 1, 2.0]", "[2147483647]", "['1']"),
        NO_LIST);
    key(
        retry,
        "no_progress_backoff_sec",
        List.of(),
        List.of("[]", "[-1]", "[0.5]", "[2147483648]", "[null]", "[1, 'repeat']"));
    key(retry, "progress_backoff_sec", List.of("0", "2147483647", "'5'"), NO_NUMBER);
    key(retry, "progress_backoff_sec", List.of(), List.of("-1", "0.5", "2147483648"));
    add(
        Verdict.BAD_FOR_PARSER,
        frame,
        "'retry': {'no_progress_backoff_sec': [2, 1]}",
        "'retry': {}, 'backoff': [1]");
    add(Verdict.GOOD, frame, "'retry': false, 'backoff': [1]");
    add(Verdict.BAD, retry, "'max_total_progres': 3");
  }

  private void ofProcesses(UnaryOperator<String> frame) {
    UnaryOperator<String> process = member -> frame.apply("'task_subprocess': {" + member + "}");
    key(process, "umask", List.of("'0'", "'27'", "'027'", "'0777'", "false"), NO_OBJECT);
    key(process, "umask", List.of(), List.of("22", "'1777'", "'8'", "''", "{}"));
    key(process, "nice", List.of("-20", "0", "19", "'5'", "false"), NO_NUMBER_OR_FALSE);
    key(process, "nice", List.of(), List.of("-21", "20", "0.5"));
    key(
        process,
        "ionice",
        List.of(
            "false",
            "{'class': 'idle'}",
            "{'class': 'best_effort', 'level': 7}",
            "{'class': 'realtime', 'level': '0', '_': 1}"),
        NO_OBJECT);
    key(
        process,
        "ionice",
        List.of(),
        List.of(
            "{}",
            "{'level': 1}",
            "{'class': 'best-effort'}",
            "{'class': null}",
            "{'class': 'best_effort', 'level': 8}",
            "{'class': 'best_effort', 'level': -1}",
            "{'class': 'idle', 'levl': 1}"));
    key(
        process,
        "run_as",
        List.of("'nobody'", "'nobody:nogroup'", "'65534:65534'", "65534", "false"),
        List.of("''", "':'", "'a:'", "':b'", "'a b'", "'-a'", "'a:b:c'", "true", "null", "[]"));
    key(process, "pass_environment", List.of("[]", "['JAVA_HOME', '_X', 'AWS_*', '*']"), NO_LIST);
    key(
        process,
        "pass_environment",
        List.of(),
        List.of("['A=B']", "['']", "['1A']", "['A*B']", "['ESPALIER_TOKEN']", "[null]", "['a b']"));
    key(
        process,
        "environment",
        List.of("{}", "{'A': 'b', 'C_1': 2, 'D': ''}", "{'_A': [], '// b': 1}"),
        NO_OBJECT);
    key(
        process,
        "environment",
        List.of(),
        List.of(
            "{'A': null}",
            "{'A': true}",
            "{'A': {}}",
            "{'A B': 'x'}",
            "{'': 'x'}",
            "{'A=': 'x'}",
            "{'A': 'x\\u0000'}",
            "{'ESPALIER_TASK_JOB': 'x'}"));
    UnaryOperator<String> limits = member -> process.apply("'cgroup_limits': {" + member + "}");
    add(Verdict.GOOD, process, "'cgroup_limits': {}", "'cgroup_limits': {'_': 1}");
    key(process, "cgroup_limits", List.of(), NO_OBJECT);
    for (String key : List.of("memory_mb", "cpu_weight", "cpu_quota_percent", "pids_max")) {
      key(limits, key, List.of("1", "100", "'7'", "false"), NO_NUMBER_OR_FALSE);
      key(limits, key, List.of(), List.of("0", "-1", "1.5"));
    }
    key(limits, "memory_swap_mb", List.of("0", "false"), List.of("-1", "null"));
    key(limits, "io_weight", List.of("10000", "false"), List.of("10001", "0"));
    key(limits, "cpu_weight", List.of(), List.of("10001"));
    key(
        limits,
        "enforce",
        List.of("'required'", "'if_available'"),
        List.of("'yes'", "true", "null"));
    add(Verdict.BAD, limits, "'memory_m': 1", "'cpu_weigth': 100");
    add(Verdict.WARNED, limits, "'cpu': 100");
    add(Verdict.BAD, process, "'umsk': '022'", "'run-as': 'x'", "'enviroment': {}");
  }

  private void ofLimits(UnaryOperator<String> frame) {
    for (String key : List.of("timeout_sec", "no_output_timeout_sec")) {
      key(frame, key, List.of("0.001", "60", "'60'", "false", "1000000000"), NO_NUMBER_OR_FALSE);
      key(frame, key, List.of(), List.of("0", "-1", "1000000001"));
    }
    key(
        frame,
        "reserve_after_sec",
        List.of("0", "0.5", "60", "'60'", "false", "1000000000"),
        NO_NUMBER_OR_FALSE);
    key(frame, "reserve_after_sec", List.of(), List.of("-1", "1000000001"));
    add(Verdict.BAD, frame, "'timeout_secs': 1", "'no_output_timeot_sec': 1");
    key(
        frame,
        "log_retention",
        List.of("{}", "{'_': 1}", "{'days': 30, 'max_mb': 512}", "{'days': false}"),
        NO_OBJECT);
    key(
        frame,
        "log_retention",
        List.of(),
        List.of(
            "{'days': 0}",
            "{'days': 1.5}",
            "{'days': true}",
            "{'days': 36501}",
            "{'max_mb': 0}",
            "{'max_mb': null}",
            "{'day': 1}"));
    UnaryOperator<String> retention = member -> frame.apply("'log_retention': {" + member + "}");
    key(retention, "days", List.of("1"), List.of("-1"));
    key(retention, "max_mb", List.of("1", "false"), List.of("-1"));
    key(frame, "redact", List.of("[]", "['passw(or)?d=[^ ]+', 7]"), NO_LIST);
    key(frame, "redact", List.of(), List.of("[null]", "[{}]", "[true]"));
    add(Verdict.BAD_FOR_PARSER, frame, "'redact': ['(']", "'redact': ['a*']", "'redact': ['']");
  }

  private void ofRates() {
    UnaryOperator<String> job = SchemaTest::owned;
    key(job, "max_concurrent", List.of("1", "'7'", "false"), NO_NUMBER_OR_FALSE);
    key(job, "max_concurrent", List.of(), List.of("0", "-1", "1.5", "2147483648"));
    UnaryOperator<String> level =
        member -> SchemaTest.settings("'start_rates': {'host': {" + member + "}}");
    UnaryOperator<String> one = member -> job.apply("'start_rate': {" + member + "}");
    for (UnaryOperator<String> frame : List.of(level, one)) {
      key(frame, "per_second", List.of("0.000001", "'5'", "1000000"), NO_NUMBER);
      key(frame, "per_second", List.of(), List.of("0", "-1", "1000001"));
      UnaryOperator<String> two = member -> frame.apply("'per_second': 5, " + member);
      key(two, "burst", List.of("1", "'10'", "1000000"), NO_NUMBER);
      key(two, "burst", List.of(), List.of("0", "1.5", "false", "1000001"));
      add(Verdict.BAD, frame, "'burst': 3", "'per_seconds': 3");
    }
    key(job, "start_rate", List.of("5", "0.5", "'5'", "false"), NO_NUMBER_OR_FALSE);
    key(job, "start_rate", List.of(), List.of("0", "1000001"));
    List<String> good = List.of("{}", "{'host': 5, 'instance': false}", "{'_': 1}");
    key(SchemaTest::settings, "start_rates", good, NO_OBJECT);
    key(SchemaTest::settings, "start_rates", List.of(), List.of("{'db': 0}", "{'db': true}"));
    add(
        Verdict.BAD_FOR_PARSER,
        SchemaTest::settings,
        "'start_rates': {'hosts': 1}",
        "'start_rates': {'worker': 1}");
  }

  private void ofOutcomes(UnaryOperator<String> frame) {
    key(
        frame,
        "fail_job_when",
        List.of(
            "false",
            "{'failed_tasks': 100, 'failed_pct': 5, 'min_samples': 50, 'window': '1h'}",
            "{'failed_tasks': '1', '_': 2}",
            "{'failed_pct': 0, 'window': 60.5}",
            "{'failed_pct': '99.9', 'window': '366d'}",
            "{'failed_tasks': 1, 'window': '60'}"),
        List.of("null", "1", "'x'", "true", "[]", "{}"));
    key(
        frame,
        "fail_job_when",
        List.of(),
        List.of(
            "{'failed_tasks': 0}",
            "{'failed_tasks': 1.5}",
            "{'failed_pct': 100}",
            "{'failed_pct': -1}",
            "{'failed_pct': 5, 'min_samples': 0}",
            "{'failed_pct': 5, 'window': 0.5}",
            "{'failed_pct': 5, 'window': '1w'}",
            "{'failed_pct': 5, 'window': ''}",
            "{'failed_pct': 5, 'window': false}",
            "{'min_samples': 5}",
            "{'failed_percent': 5}",
            "{'failed_task': 5}"));
    add(
        Verdict.BAD_FOR_PARSER,
        frame,
        "'fail_job_when': {'failed_pct': '100'}",
        "'fail_job_when': {'failed_pct': 5, 'window': '367d'}",
        "'fail_job_when': {'failed_pct': 5, 'window': '0s'}");
    key(
        frame,
        "succeed_job_when",
        List.of("false", "'never'", "{'done_pct': 99.5}", "{'done_pct': '100'}"),
        List.of("null", "1", "'x'", "true", "[]", "{}"));
    key(
        frame,
        "succeed_job_when",
        List.of(),
        List.of("{'done_pct': 0}", "{'done_pct': 100.1}", "{'done_pct': []}", "{'done_pc': 9}"));
    add(Verdict.BAD_FOR_PARSER, frame, "'succeed_job_when': {'done_pct': '0'}");
    add(Verdict.BAD, frame, "'fail_job_wen': {'failed_tasks': 1}");
  }

  private void ofQueues() {
    key(
        SchemaTest::settings,
        "queues",
        List.of("{}", "{'_': 1, 'default': {}, 'a.b:c-d': {'_': 1}}", "{'1': {}}"),
        NO_OBJECT);
    key(
        SchemaTest::settings,
        "queues",
        List.of(),
        List.of("{'a b': {}}", "{'': {}}", "{'-a': {}}", "{'a': 1}", "{'a': {'max_slot': {}}}"));
    UnaryOperator<String> queue = member -> settings("'queues': {'etl': {" + member + "}}");
    key(queue, "priority_factor", List.of("1", "0.5", "'2'", "1e6", "1e-6"), NO_NUMBER);
    key(queue, "priority_factor", List.of(), List.of("0", "-1", "1000001"));
    key(queue, "max_slots", List.of("{}", "{'_': 1}", "{'slots': 0, 'ram': '9'}"), NO_OBJECT);
    key(queue, "max_slots", List.of(), List.of("{'slots': -1}", "{'slots': 0.5}"));
    key(queue, "max_fraction", List.of("{}", "{'slots': 0.5, 'ram': 1}"), NO_OBJECT);
    key(queue, "max_fraction", List.of(), List.of("{'slots': 1.1}", "{'slots': -0.1}"));
    add(Verdict.BAD_FOR_PARSER, queue, "'max_slots': {'slot': 1}", "'max_fraction': {'x': 1}");
    key(SchemaTest::settings, "priority_half_life_sec", List.of("60", "0.001", "'1e3'"), NO_NUMBER);
    key(SchemaTest::settings, "priority_half_life_sec", List.of(), List.of("0", "1000000001"));
    for (UnaryOperator<String> frame :
        List.<UnaryOperator<String>>of(SchemaTest::settings, SchemaTest::owned)) {
      key(frame, "queue", List.of("'default'"), NO_TEXT);
      add(Verdict.BAD_FOR_PARSER, frame, "'queue': 'etl'");
    }
    add(Verdict.GOOD, SchemaTest::settings, "'queues': {'etl': {}}, 'queue': 'etl'");
    add(Verdict.BAD_FOR_PARSER, SchemaTest::settings, "'queues': {'etl': {}}, 'queue': 'etk'");
  }

  private void ofDeadlines() {
    key(
        SchemaTest::owned,
        "complete_by",
        List.of(
            "'2026-11-22T06:00:00Z'",
            "'2026-11-22T06:00Z'",
            "'2026-11-22T06:00:00.250+01:00'",
            "1795327200",
            "1795327200.5",
            "0",
            "false"),
        NO_NUMBER_OR_FALSE);
    key(
        SchemaTest::owned,
        "complete_by",
        List.of(),
        List.of(
            "'2026-11-22T06:00:00'",
            "'2026-11-22'",
            "'06:00'",
            "'tomorrow'",
            "'1795327200'",
            "-1",
            "253402300800",
            "'2026-11-22T06:00:00 Europe/Berlin'"));
    add(Verdict.BAD_FOR_PARSER, SchemaTest::owned, "'complete_by': '2026-13-22T06:00:00Z'");
    add(Verdict.WARNED, SchemaTest::settings, "'complete_by': 0");
  }

  @ParameterizedTest
  @MethodSource("rows")
  void parserAndSchemaAgree(Row row) {
    String text = row.document().replace('\'', '"');
    Result<Json> document = JsonReader.strict().read(text);
    assertThat(document.problems()).as(text).isEmpty();
    Result<Config> parsed = ConfigFixtures.parser().parse(Objects.requireNonNull(document.value()));
    Set<ValidationMessage> messages = SCHEMA.validate(text, InputFormat.JSON);
    boolean bad = row.verdict() == Verdict.BAD || row.verdict() == Verdict.BAD_FOR_PARSER;
    assertThat(parsed.hasErrors()).as("parser: %s", parsed.problems()).isEqualTo(bad);
    boolean refused = row.verdict() == Verdict.BAD || row.verdict() == Verdict.WARNED;
    assertThat(!messages.isEmpty()).as("schema: %s", messages).isEqualTo(refused);
    if (row.verdict() == Verdict.WARNED) {
      assertThat(parsed.problems()).as("warnings").isNotEmpty().noneMatch(Problem::isError);
    }
  }

  @Test
  void theTableIsLarge() {
    assertThat(rows().distinct().count()).isGreaterThan(500);
  }

  @ParameterizedTest
  @EnumSource
  void everyKeyIsInTheTableOnceWellAndOnceBadly(ConfigPlace place) {
    for (String key : place.keys()) {
      for (Verdict verdict : List.of(Verdict.GOOD, Verdict.BAD)) {
        assertThat(rows())
            .as("%s %s", verdict, key)
            .anyMatch(row -> row.verdict() == verdict && row.document().contains("'" + key + "'"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void theSchemaHasExactlyTheKeysOfTheParser(ConfigPlace place) {
    Set<String> known = new HashSet<>(place.keys());
    known.addAll(place.spellings().keySet());
    known.addAll(place.obsolete().keySet());
    assertThat(properties(place).members().keySet()).containsExactlyInAnyOrderElementsOf(known);
  }

  @ParameterizedTest
  @EnumSource
  void everyKeyOfTheSchemaIsDescribed(ConfigPlace place) {
    properties(place)
        .members()
        .forEach(
            (key, value) ->
                assertThat(resolved(value).get("description")).as(place + "." + key).isNotNull());
  }

  @ParameterizedTest
  @EnumSource
  void whatTheParserWarnsOfIsDeprecatedInTheSchema(ConfigPlace place) {
    Set<String> warned = new HashSet<>(place.spellings().keySet());
    warned.addAll(place.obsolete().keySet());
    properties(place)
        .members()
        .forEach(
            (key, value) ->
                assertThat(((Json.Obj) value).members().containsKey("deprecated"))
                    .as(key)
                    .isEqualTo(warned.contains(key)));
  }

  private static Json.Obj properties(ConfigPlace place) {
    return switch (place) {
      case SETTINGS -> at("$defs", "settings", "properties");
      case NODES -> at("$defs", "settings", "properties", "nodes", "properties");
      case NODE_SOURCE ->
          at(
              "$defs",
              "settings",
              "properties",
              "nodes",
              "properties",
              "node_sources",
              "items",
              "properties");
      case CHANGE_GUARD ->
          at(
              "$defs",
              "settings",
              "properties",
              "nodes",
              "properties",
              "node_sources",
              "items",
              "properties",
              "change_guard",
              "properties");
      case RESOURCE -> at("$defs", "resource", "properties");
      case NODE_LIMIT -> at("$defs", "nodeLimit", "properties");
      case PHYSICAL_RESOURCES ->
          at("$defs", "settings", "properties", "physical_resources", "properties");
      case PHYSICAL_RESOURCE ->
          at(
              "$defs",
              "settings",
              "properties",
              "physical_resources",
              "properties",
              "cpu_core",
              "properties");
      case TASK_SUBPROCESS -> at("$defs", "taskSubprocess", "properties");
      case CGROUPS -> at("$defs", "taskSubprocess", "properties", "cgroups", "properties");
      case IONICE -> ioNice();
      case CGROUP_LIMITS ->
          at("$defs", "taskSubprocess", "properties", "cgroup_limits", "properties");
      case START_RATE -> startRate();
      case LOG_RETENTION -> at("$defs", "logRetention", "properties");
      case RETRY -> at("$defs", "retry", "properties");
      case KILL_SUBPROCESS -> at("$defs", "killSubprocess", "properties");
      case JOB -> at("$defs", "job", "properties");
      case QUEUE -> at("$defs", "queue", "properties");
      case WHOLE_JOB -> at("$defs", "wholeJob", "properties");
      case FAIL_JOB_WHEN -> at("$defs", "failJobWhen", "properties");
      case SUCCEED_JOB_WHEN -> at("$defs", "succeedJobWhen", "properties");
      case FILTER -> at("$defs", "filter", "properties");
    };
  }

  private static Json.Obj ioNice() {
    Json.Arr either =
        (Json.Arr)
            Objects.requireNonNull(
                at("$defs", "taskSubprocess", "properties", "ionice").get("anyOf"));
    return (Json.Obj) Objects.requireNonNull(((Json.Obj) either.items().get(1)).get("properties"));
  }

  private static Json.Obj startRate() {
    Json.Arr either = (Json.Arr) Objects.requireNonNull(at("$defs", "startRate").get("anyOf"));
    Json.Obj last = (Json.Obj) either.items().get(either.items().size() - 1);
    return (Json.Obj) Objects.requireNonNull(last.get("properties"));
  }

  private static Json.Obj at(String... path) {
    @Nullable Json value = JsonReader.parse(SCHEMA_TEXT).value();
    for (String key : path) {
      value = ((Json.Obj) Objects.requireNonNull(value, key)).get(key);
    }
    return (Json.Obj) Objects.requireNonNull(value, "the end of the path");
  }

  private static Json.Obj resolved(Json schema) {
    Json.Obj object = (Json.Obj) schema;
    if (object.get("description") == null && object.get("$ref") instanceof Json.Str ref) {
      return at("$defs", ref.value().replace("#/$defs/", ""));
    }
    return object;
  }
}
