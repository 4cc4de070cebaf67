package io.espalier.server.config;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** How tasks run, of the settings and of a job. */
final class SchemaRowsOfTasks extends SchemaRows {
  SchemaRowsOfTasks() {
    ofRates();
    ofBoth(IN_SETTINGS);
    ofBoth(OWNED);
    ofProcesses(IN_SETTINGS);
    ofProcesses(OWNED);
    ofLimits(IN_SETTINGS);
    ofLimits(OWNED);
  }

  private void ofRates() {
    UnaryOperator<String> job = OWNED;
    key(job, "max_concurrent", List.of("1", "'7'", "false"), NO_NUMBER_OR_FALSE);
    key(job, "max_starting", List.of("1", "'7'", "false"), NO_NUMBER_OR_FALSE);
    bad(job, "max_starting", "0", "-1", "1.5", "2147483648");
    key(job, "set", List.of("'2026-11-upgrade'", "'a.b:c_d'"), List.of());
    bad(job, "set", "''", "'a b'", "'-a'", "true", "{}");
    ofInfo(job);
    bad(job, "max_concurrent", "0", "-1", "1.5", "2147483648");
    UnaryOperator<String> level = member -> settings("'start_rates': {'host': {" + member + "}}");
    UnaryOperator<String> one = member -> job.apply("'start_rate': {" + member + "}");
    for (UnaryOperator<String> frame : List.of(level, one)) {
      key(frame, "per_second", List.of("0.000001", "'5'", "1000000"), NO_NUMBER);
      bad(frame, "per_second", "0", "-1", "1000001");
      UnaryOperator<String> two = member -> frame.apply("'per_second': 5, " + member);
      key(two, "burst", List.of("1", "'10'", "1000000"), NO_NUMBER);
      bad(two, "burst", "0", "1.5", "false", "1000001");
      add(Verdict.BAD, frame, "'burst': 3", "'per_seconds': 3");
    }
    key(job, "start_rate", List.of("5", "0.5", "'5'", "false"), NO_NUMBER_OR_FALSE);
    bad(job, "start_rate", "0", "1000001");
    List<String> good = List.of("{}", "{'host': 5, 'instance': false}", "{'_': 1}");
    key(IN_SETTINGS, "start_rates", good, NO_OBJECT);
    bad(IN_SETTINGS, "start_rates", "{'db': 0}", "{'db': true}");
    List<String> shards = List.of("{}", "{'east': 0, 'west': '1'}", "{'_': 'x'}");
    key(IN_SETTINGS, "shard_tags", shards, NO_OBJECT);
    bad(IN_SETTINGS, "shard_tags", "{'a': -1}", "{'a': 65536}");
    add(
        Verdict.BAD_FOR_PARSER,
        IN_SETTINGS,
        "'start_rates': {'hosts': 1}",
        "'start_rates': {'worker': 1}");
  }

  private void ofInfo(UnaryOperator<String> job) {
    key(job, "description", List.of("''", "'Copies.\\n\\tAll.'", "7"), List.of("true", "[]"));
    bad(job, "description", "'" + "x".repeat(2001) + "'");
    add(Verdict.BAD_FOR_PARSER, job, "'description': '\\u0000'", "'description': '\\u001b[1m'");
    key(job, "labels", List.of("{}", "{'team': 'dba', 'a/b.c-d_e': 'x y', 'tier': 1}"), NO_OBJECT);
    List<String> noLabels =
        List.of("{'a': ''}", "{'a': {}}", "{'a b': 'c'}", "{'1': 'c'}", "{'a': 'x\\ny'}");
    key(job, "labels", List.of("{'_': 1}"), noLabels);
    bad(job, "labels", "{'a': '" + "x".repeat(201) + "'}", many(65));
    List<String> links =
        List.of(
            "{'Run book': 'https://wiki.example/a%20b?c=d#e'}",
            "{'x': 'HTTP://10.0.0.1:80'}", "{'x': 'http://[::1]:8080/'}");
    key(job, "links", links, NO_OBJECT);
    bad(job, "links", "{'x': 'javascript:alert(1)'}", "{'x': '//a.example'}", "{'x': 1}", many(21));
    add(
        Verdict.BAD_FOR_PARSER,
        job,
        "'links': {'x': 'https://'}",
        "'links': {'x': 'https://me:pw@a.example/'}",
        "'links': {'x': 'https://a.example/ b'}",
        "'links': {'x': 'https://a.example/\\\"onclick=y'}");
  }

  private static String many(int size) {
    return IntStream.range(0, size)
        .mapToObj(i -> "'l" + i + "': 'https://a.example'")
        .collect(Collectors.joining(", ", "{", "}"));
  }

  private void ofBoth(UnaryOperator<String> frame) {
    key(
        frame,
        "backoff",
        List.of("[1]", "[1, 2.0, 3]", "[1, 'repeat']", "['fail']", "[5, 'fail']"),
        NO_LIST);
    bad(
        frame,
        "backoff",
        "[]",
        "['repeat']",
        "[0]",
        "[-1]",
        "[1.5]",
        "['1']",
        "[null]",
        "[1, 'x']",
        "[1, {}]");
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
            "{'use_canary_pipe': false}",
            "{'cgroups': {}}",
            "{'cgroups': {'root': '/sys/fs/cgroup', 'slice': 'a/b', 'subsystems': ['cpu,cpuacct'],"
                + "'kill_without_freezer': 1}}",
            "{'_': 1, 'cgroups': {'_': 1}}"),
        NO_OBJECT);
    bad(
        frame,
        "task_subprocess",
        "{'poll_ms': 1.5}",
        "{'poll_ms': null}",
        "{'max_log_lines_per_poll_interval': []}",
        "{'parent_death_signal': -1}",
        "{'parent_death_signal': 'KILL'}",
        "{'use_canary_pipe': null}",
        "{'cgroups': []}",
        "{'cgroups': {'root': []}}",
        "{'cgroups': {'slice': '../x'}}",
        "{'cgroups': {'subsystems': 'cpu'}}",
        "{'cgroups': {'subsystems': ['a/b']}}",
        "{'cgroups': {'subsystems': [null]}}",
        "{'cgroups': {'kill_without_freezer': 'no'}}",
        "{'pollms': 1}",
        "{'cgroups': {'rot': ''}}");
    key(
        frame,
        "kill_subprocess",
        List.of(
            "{}",
            "{'method': 'term'}",
            "{'method': 'term_wait_kill'," + "'kill_wait_ms': 500}",
            "{'method': 'kill', 'kill_wait_ms': -1}"),
        NO_OBJECT);
    bad(
        frame,
        "kill_subprocess",
        "{'method': 'KILL'}",
        "{'method': null}",
        "{'kill_wait_ms': 'soon'}",
        "{'kill_wait_ms': 0.5}",
        "{'kill_wait_m': 1}");
    key(frame, "kill_request", List.of("{'method': 'kill'}"), NO_OBJECT);
    add(Verdict.BAD, frame, "'kill_request': {}, 'kill_subprocess': {}");
  }

  private void ofRetry(UnaryOperator<String> frame) {
    key(frame, "retry", List.of("{}", "false", "{'_': 1}"), NO_OBJECT);
    UnaryOperator<String> retry = member -> frame.apply("'retry': {" + member + "}");
    for (String key :
        List.of("max_successive_no_progress", "max_total_no_progress", "max_total_progress")) {
      key(retry, key, List.of("1", "2147483647", "'7'"), NO_NUMBER);
      bad(retry, key, "0", "-1", "1.5", "2147483648", "1e400");
    }
    key(
        retry,
        "no_progress_backoff_sec",
        List.of("[0]", "[1, 1, 2.0]", "[2147483647]", "['1']"),
        NO_LIST);
    bad(
        retry,
        "no_progress_backoff_sec",
        "[]",
        "[-1]",
        "[0.5]",
        "[2147483648]",
        "[null]",
        "[1, 'repeat']");
    key(retry, "progress_backoff_sec", List.of("0", "2147483647", "'5'"), NO_NUMBER);
    bad(retry, "progress_backoff_sec", "-1", "0.5", "2147483648");
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
    bad(process, "umask", "22", "'1777'", "'8'", "''", "{}");
    key(process, "nice", List.of("-20", "0", "19", "'5'", "false"), NO_NUMBER_OR_FALSE);
    bad(process, "nice", "-21", "20", "0.5");
    key(
        process,
        "ionice",
        List.of(
            "false",
            "{'class': 'idle'}",
            "{'class': 'best_effort', 'level': 7}",
            "{'class': 'realtime', 'level': '0', '_': 1}"),
        NO_OBJECT);
    bad(
        process,
        "ionice",
        "{}",
        "{'level': 1}",
        "{'class': 'best-effort'}",
        "{'class': null}",
        "{'class': 'best_effort', 'level': 8}",
        "{'class': 'best_effort', 'level': -1}",
        "{'class': 'idle', 'levl': 1}");
    key(
        process,
        "run_as",
        List.of("'nobody'", "'nobody:nogroup'", "'65534:65534'", "65534", "false"),
        List.of("''", "':'", "'a:'", "':b'", "'a b'", "'-a'", "'a:b:c'", "true", "null", "[]"));
    key(process, "pass_environment", List.of("[]", "['JAVA_HOME', '_X', 'AWS_*', '*']"), NO_LIST);
    bad(
        process,
        "pass_environment",
        "['A=B']",
        "['']",
        "['1A']",
        "['A*B']",
        "['ESPALIER_TOKEN']",
        "[null]",
        "['a b']");
    key(
        process,
        "environment",
        List.of("{}", "{'A': 'b', 'C_1': 2, 'D': ''}", "{'_A': [], '// b': 1}"),
        NO_OBJECT);
    bad(
        process,
        "environment",
        "{'A': null}",
        "{'A': true}",
        "{'A': {}}",
        "{'A B': 'x'}",
        "{'': 'x'}",
        "{'A=': 'x'}",
        "{'A': 'x\\u0000'}",
        "{'ESPALIER_TASK_JOB': 'x'}");
    UnaryOperator<String> limits = member -> process.apply("'cgroup_limits': {" + member + "}");
    add(Verdict.GOOD, process, "'cgroup_limits': {}", "'cgroup_limits': {'_': 1}");
    key(process, "cgroup_limits", List.of(), NO_OBJECT);
    for (String key : List.of("memory_mb", "cpu_weight", "cpu_quota_percent", "pids_max")) {
      key(limits, key, List.of("1", "100", "'7'", "false"), NO_NUMBER_OR_FALSE);
      bad(limits, key, "0", "-1", "1.5");
    }
    key(limits, "memory_swap_mb", List.of("0", "false"), List.of("-1", "null"));
    key(limits, "io_weight", List.of("10000", "false"), List.of("10001", "0"));
    bad(limits, "cpu_weight", "10001");
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
      bad(frame, key, "0", "-1", "1000000001");
    }
    key(
        frame,
        "reserve_after_sec",
        List.of("0", "0.5", "60", "'60'", "false", "1000000000"),
        NO_NUMBER_OR_FALSE);
    bad(frame, "reserve_after_sec", "-1", "1000000001");
    add(Verdict.BAD, frame, "'timeout_secs': 1", "'no_output_timeot_sec': 1");
    key(
        frame,
        "log_retention",
        List.of("{}", "{'_': 1}", "{'days': 30, 'max_mb': 512}", "{'days': false}"),
        NO_OBJECT);
    bad(
        frame,
        "log_retention",
        "{'days': 0}",
        "{'days': 1.5}",
        "{'days': true}",
        "{'days': 36501}",
        "{'max_mb': 0}",
        "{'max_mb': null}",
        "{'day': 1}");
    UnaryOperator<String> retention = member -> frame.apply("'log_retention': {" + member + "}");
    key(retention, "days", List.of("1"), List.of("-1"));
    key(retention, "max_mb", List.of("1", "false"), List.of("-1"));
    key(frame, "redact", List.of("[]", "['passw(or)?d=[^ ]+', 7]"), NO_LIST);
    bad(frame, "redact", "[null]", "[{}]", "[true]");
    add(Verdict.BAD_FOR_PARSER, frame, "'redact': ['(']", "'redact': ['a*']", "'redact': ['']");
  }
}
