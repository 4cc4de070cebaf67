package io.espalier.server.config;

import java.util.List;
import java.util.function.UnaryOperator;

/** Whole documents, and keys of the settings. */
final class SchemaRowsOfSettings extends SchemaRows {
  SchemaRowsOfSettings() {
    documents();
    ofSettings();
    notifications();
  }

  private void documents() {
    UnaryOperator<String> same = text -> text;
    add(Verdict.BAD, same, "{}", "[]", "null", "'x'", "1", "{'bistro_settings': []}");
    add(Verdict.GOOD, IN_SETTINGS, "'_': 1", "'// why': {}", "'_x': null");
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
    add(Verdict.WARNED, IN_SETTINGS, "'colour': 'red'");
    add(Verdict.BAD, IN_SETTINGS, "'enable': true", "'backof': [1]");
    add(Verdict.BAD, OWNED, "'enable': true", "'depends-on': []");
  }

  private void notifications() {
    String hook = "'url': 'https://h/x', 'secret_file': 'key'";
    key(
        IN_SETTINGS,
        "notifications",
        List.of("{}", "{'_': 1, 'a.b:c-d': {'webhook': {" + hook + "}}}"),
        NO_OBJECT);
    bad(
        IN_SETTINGS,
        "notifications",
        "{'a b': {'webhook': {" + hook + "}}}",
        "{'': {'webhook': {" + hook + "}}}",
        "{'ops': 1}",
        "{'ops': {}}",
        "{'ops': {'webhok': {" + hook + "}}}");
    UnaryOperator<String> notifier =
        member -> settings("'notifications': {'ops': {" + member + "}}");
    key(notifier, "webhook", List.of("{" + hook + "}", "{" + hook + ", '_': 1}"), NO_OBJECT);
    bad(notifier, "webhook", "{}", "{'url': 'https://h/x'}", "{'secret_file': 'key'}");
    UnaryOperator<String> target =
        member -> notifier.apply("'webhook': {'secret_file': 'key', " + member + "}");
    key(
        target,
        "url",
        List.of("'http://h'", "'https://[::1]:8443/a/{secret}?x=1'", "'https://h:1/'"),
        NO_TEXT);
    bad(target, "url", "''", "'ftp://h/'");
    add(
        Verdict.BAD_FOR_PARSER,
        target,
        "'url': 'https://u:p@h/'",
        "'url': 'https:///x'",
        "'url': 'https://h/{node}'");
    UnaryOperator<String> webhook =
        member -> notifier.apply("'webhook': {'url': 'https://h/x', " + member + "}");
    key(webhook, "secret_file", List.of("'/etc/espalier/key'"), NO_TEXT);
    add(Verdict.BAD_FOR_PARSER, webhook, "'secret_file': ''");
    UnaryOperator<String> more =
        member -> notifier.apply("'webhook': {" + hook + ", " + member + "}");
    key(more, "timeout_sec", List.of("0.5", "'300'"), NO_NUMBER);
    bad(more, "timeout_sec", "0", "301");
    key(more, "allow_private", BOOLS, NO_BOOL);
    key(
        more,
        "body",
        List.of("{}", "{'text': '{severity}: {summary}', 'x': ['{secret}', 1]}"),
        NO_OBJECT);
    add(Verdict.BAD_FOR_PARSER, more, "'body': {'text': ['{summry}']}");
    UnaryOperator<String> told = member -> notifier.apply("'webhook': {" + hook + "}, " + member);
    key(told, "when", List.of("{}", "{'_': 1}"), NO_OBJECT);
    UnaryOperator<String> when = member -> told.apply("'when': {" + member + "}");
    key(
        when,
        "kinds",
        List.of("[]", "['job_state', 'brake_set']"),
        List.of("'job_state'", "['x']"));
    for (String names : List.of("jobs", "sets", "queues", "owners")) {
      key(when, names, List.of("[]", "['a', 'b']"), List.of("'a'", "{}", "[[]]"));
    }
    key(when, "severity", List.of("'info'", "'warning'", "'error'"), List.of("'fatal'", "1"));
  }

  private void ofSettings() {
    key(IN_SETTINGS, "enabled", BOOLS, NO_BOOL);
    key(IN_SETTINGS, "working_wait", List.of("0", "0.5", "'2.5'", "86400"), NO_NUMBER);
    bad(IN_SETTINGS, "working_wait", "-1", "86401");
    key(IN_SETTINGS, "scheduler", List.of("'long_tail'"), NO_TEXT);
    key(
        IN_SETTINGS,
        "capacity",
        List.of(
            "{}",
            "{'running_jobs': 1, 'waiting_jobs': '2', 'waiting_tasks': 2147483647}",
            "{'max_starting': 1, 'max_starting_per_worker': '2'}",
            "{'running_jobs': false}"),
        List.of(
            "{'running_jobs': 0}",
            "{'max_starting': 0}",
            "{'max_starting_per_worker': 0}",
            "{'max_starting': '1 per second'}",
            "{'waiting_jobs': -1}",
            "{'waiting_tasks': 'many'}",
            "{'waiting_tasks': 1.5}",
            "{'running_job': 1}",
            "3"));
    key(IN_SETTINGS, "shuffle", BOOLS, NO_BOOL);
    add(Verdict.BAD_FOR_PARSER, IN_SETTINGS, "'scheduler': 'long_tail', 'shuffle': true");
    key(IN_SETTINGS, "remote_worker_selector", List.of("'busiest'"), NO_TEXT);
    add(
        Verdict.BAD_FOR_PARSER,
        IN_SETTINGS,
        "'scheduler': 'x'",
        "'scheduler': 7",
        "'remote_worker_selector': 'x'");
    key(IN_SETTINGS, "level_for_tasks", List.of("'host'", "'instance'"), NO_TEXT);
    add(Verdict.BAD_FOR_PARSER, IN_SETTINGS, "'level_for_tasks': 'x'");
    key(IN_SETTINGS, "node_order", List.of("'original'"), List.of("'x'", "1", "null"));
    key(
        IN_SETTINGS,
        "CAUTION_exit_initial_wait_before_timestamp",
        List.of("0", "123", "'123'", "253402300799"),
        List.of("-1", "1.5", "253402300800", "null", "true", "[]", "'x'"));
    key(
        IN_SETTINGS,
        "worker_resources_override",
        List.of("{}", "{'h:1': {}}", "{'h': {'ram': 3}}", "{'_': 1}", "{'h': {'_': 'x'}}"),
        NO_OBJECT);
    bad(
        IN_SETTINGS,
        "worker_resources_override",
        "{'h': 1}",
        "{'h': {'ram': -1}}",
        "{'h': {'ram': []}}",
        "{'h': {'ram': 1.5}}");
    key(IN_SETTINGS, "worker_resources_overrides", List.of("{'h': {'ram': '3'}}"), NO_OBJECT);
    add(
        Verdict.BAD_FOR_PARSER,
        IN_SETTINGS,
        "'worker_resources_override': {'h': {'slots': 1}}",
        "'worker_resources_override': {'h': {'nope': 1}}");
    add(
        Verdict.BAD,
        IN_SETTINGS,
        "'worker_resources_override': {}, 'worker_resources_overrides': {}");
    nodeLimits();
    String ram = "{'ram_mb': {'logical_resource': 'ram', ";
    key(
        IN_SETTINGS,
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
    bad(
        IN_SETTINGS,
        "physical_resources",
        "{'disk': {'logical_resource': 'ram'}}",
        "{'ram_mb': {}}",
        "{'ram_mb': []}",
        "{'ram_mb': {'logical_resource': []}}",
        ram + "'enforcement': 'soft'}}",
        ram + "'multiply_logical_by': 0}}",
        ram + "'multiply_logical_by': null}}",
        ram + "'physical_reserve_amount': 'x'}}",
        "{'cpu_core': {'logical_resource': 'ram', 'enforcement': 'hard'}}",
        "{'gpu_card': {'logical_resource': 'ram', 'enforcement': 'soft'}}");
  }

  private void nodeLimits() {
    UnaryOperator<String> entry =
        member -> settings("'node_resources_override': [{'level': 'host', " + member + "}]");
    String limits = ", 'limits': {'slots': 3}";
    key(IN_SETTINGS, "node_resources_override", List.of("[]"), NO_LIST);
    add(Verdict.BAD, IN_SETTINGS, "'node_resources_override': [1]");
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
    key(resource, "follows", List.of("[]"), List.of("{}", "'lag'", "1", "null"));
    add(Verdict.BAD_FOR_PARSER, resource, "'follows': ['lag']", "'floor': 2");
    key(resource, "floor", List.of("0", "1", "'1'"), List.of("-1", "[]", "'x'", "null"));
  }
}
