package io.espalier.server.config;

import java.util.List;
import java.util.function.UnaryOperator;

/** Jobs, when they end, and their queues. */
final class SchemaRowsOfJobs extends SchemaRows {
  SchemaRowsOfJobs() {
    ofJobs();
    ofDeadlines();
    ofOutcomes(IN_SETTINGS);
    ofOutcomes(OWNED);
    ofQueues();
  }

  private void rollouts() {
    key(
        OWNED,
        "rollout",
        List.of("{'stages': ['100%']}"),
        List.of("{}", "{'soak': 1}", "'x'", "null"));
    UnaryOperator<String> staged =
        member -> owned("'rollout': {'stages': [1, '100%'], " + member + "}");
    UnaryOperator<String> rollout = member -> owned("'rollout': {" + member + "}");
    key(
        rollout,
        "stages",
        List.of("['100%']", "[1, '1%', '10%', '100%']", "['5', 10, '0.5 %', '100%']"),
        List.of("1", "[0]", "[-1]", "['x']", "[true]", "[1.5]", "['%']"));
    for (String wrong : List.of("[]", "[1]", "['0%', '100%']", "['101%']", "['99%']")) {
      add(Verdict.BAD_FOR_PARSER, rollout, "'stages': " + wrong);
    }
    for (String falling : List.of("['2%', '1%', '100%']", "[5, 5, '100%']", "['100%', '100%']")) {
      add(Verdict.BAD_FOR_PARSER, rollout, "'stages': " + falling);
    }
    key(staged, "spread", List.of("'host'"), List.of("[]", "null"));
    add(Verdict.BAD_FOR_PARSER, staged, "'spread': 'db'");
    add(Verdict.BAD_FOR_PARSER, staged, "'spread': 'nowhere'");
    key(staged, "soak", List.of("0", "90", "'10m'", "'2d'"), List.of("-1", "'10 x'", "null", "[]"));
    key(staged, "fail_when", List.of("{'failed_percent': 2}"), List.of("{}", "2", "null"));
    UnaryOperator<String> failing = member -> staged.apply("'fail_when': {" + member + "}");
    key(failing, "failed_percent", List.of("0", "99.9", "'2'"), List.of("-1", "100", "101", "[]"));
    UnaryOperator<String> sampled = member -> failing.apply("'failed_percent': 2, " + member);
    key(sampled, "min_samples", List.of("1", "'20'"), List.of("0", "1.5", "null"));
    key(staged, "max_p95_ratio", List.of("1", "1.5", "'2'"), List.of("0.9", "null", "[]"));
    key(staged, "approve", BOOLS, NO_BOOL);
    key(
        staged,
        "on_change",
        List.of("'restart'", "'continue'"),
        List.of("'stop'", "true", "null", "1"));
  }

  private void batches() {
    key(
        OWNED,
        "batch",
        List.of(
            "{'max': 200}", "{'max': '2', 'under': 'host'}", "{'max': 256, 'under': 'instance'}"),
        List.of("{}", "{'under': 'host'}", "{'max': 1}", "{'max': 257}", "{'max': 2.5}", "5"));
    UnaryOperator<String> batch = member -> owned("'batch': {'max': 20}, " + member);
    UnaryOperator<String> under = member -> owned("'batch': {'max': 20, " + member + "}");
    key(under, "under", List.of("'host'"), List.of("[]", "null"));
    key(under, "wait", List.of("0", "0.05", "'2s'"), List.of("-1", "'soon'", "null"));
    UnaryOperator<String> shared = member -> under.apply("'under': 'host', " + member);
    key(shared, "per_batch", List.of("[]", "['slots']", "['slots', 'slots']"), NO_LIST);
    add(Verdict.BAD_FOR_PARSER, shared, "'per_batch': ['ram']", "'per_batch': ['slots', 'nope']");
    add(Verdict.BAD_FOR_PARSER, under, "'per_batch': ['slots']");
    for (String wrong : List.of("'under': 'db'", "'under': 'nowhere'", "'under': 'worker'")) {
      add(Verdict.BAD_FOR_PARSER, under, wrong);
    }
    add(
        Verdict.BAD_FOR_PARSER,
        batch,
        "'status_from': 'exit_code'",
        "'call': {'executor': 'soap'}",
        "'steps': [{'name': 'a', 'command': ['x']}]",
        "'verify': {'command': ['x']}");
  }

  private void ofJobs() {
    key(SchemaRows::job, "owner", List.of("'o'", "''", "7"), NO_TEXT);
    key(OWNED, "enabled", BOOLS, NO_BOOL);
    key(OWNED, "command", List.of("[]", "['a', '', 7, 'x\\n']"), NO_LIST);
    bad(OWNED, "command", "['']", "['a', null]", "['a', '\\u0000']");
    key(
        OWNED,
        "status_from",
        List.of("'status_line'", "'exit_code'"),
        List.of("'exit'", "1", "null", "[]"));
    rollouts();
    batches();
    key(OWNED, "priority", List.of("0", "1.3", "'2'", "1e300"), NO_NUMBER);
    bad(OWNED, "priority", "-1");
    key(OWNED, "config", List.of("{}", "{'enable': [null]}"), NO_OBJECT);
    key(OWNED, "resources", List.of("{}", "{'slots': 0}", "{'slots': '2', '_': 1}"), NO_OBJECT);
    bad(OWNED, "resources", "{'slots': -1}", "{'slots': 1.5}", "{'slots': null}");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'resources': {'nope': 1}");
    key(
        OWNED,
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
    bad(
        OWNED,
        "filters",
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
        "{'host': {'fraction_of_node': 0.1}}");
    add(
        Verdict.BAD_FOR_PARSER,
        OWNED,
        "'filters': {'nope': {}}",
        "'filters': {'host': {'whitelist_regex': '('}}",
        "'filters': {'host': {'fraction_of_nodes': '2'}}");
    key(OWNED, "depends_on", List.of("[]", "['x', 7]"), NO_LIST);
    bad(OWNED, "depends_on", "[null]", "[['x']]");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'depends_on': ['j']");
    String wholeJobs = "run_only_after_all_nodes_are_done_for";
    key(
        OWNED,
        wholeJobs,
        List.of("[]", "['x', 7]", "[{'job': 'x', 'done_percent': 99.5, 'tags': ['a']}]"),
        NO_LIST);
    bad(
        OWNED,
        wholeJobs,
        "[null]",
        "[['x']]",
        "[{}]",
        "[{'job': []}]",
        "[{'job': 'x', 'done_percent': 0}]",
        "[{'job': 'x', 'done_percent': 101}]",
        "[{'job': 'x', 'tags': 'a'}]",
        "[{'job': 'x', 'tag': ['a']}]");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'" + wholeJobs + "': ['j']");
    key(OWNED, "roles", List.of("[]", "['replica']", "['a', 'b_1.x-y']"), NO_LIST);
    bad(OWNED, "roles", "[null]", "['']", "['a b']", "[['x']]");
    key(OWNED, "level_for_tasks", List.of("'db'", "'instance'", "'worker'"), NO_TEXT);
    key(OWNED, "level_for_host_placement", List.of("'host'"), NO_TEXT);
    add(Verdict.BAD_FOR_PARSER, OWNED, "'level_for_tasks': 'x'", "'level_for_host_placement': 'x'");
    key(OWNED, "host_placement", List.of("''", "'h.example.com'"), NO_TEXT);
    bad(OWNED, "host_placement", "'a\\nb'");
    key(OWNED, "workers", List.of("''", "'gpu and not (spot or slow)'"), NO_TEXT);
    add(
        Verdict.BAD_FOR_PARSER,
        OWNED,
        "'workers': 'arch = 1'",
        "'workers': 'a and'",
        "'workers': '5'");
    for (String time : List.of("create_time", "modify_time")) {
      key(OWNED, time, List.of("0", "1700000000", "'5'"), NO_NUMBER);
      bad(OWNED, time, "-1", "1.5");
    }
    key(OWNED, "version_id", List.of("-1", "123456789012345"), NO_NUMBER);
    bad(OWNED, "version_id", "-2", "0.5", "9223372036854775808");
    key(OWNED, "errors", List.of("{}"), NO_OBJECT);
    bad(OWNED, "errors", "{'error': 'x', 'value': 1}");
  }

  private void ofDeadlines() {
    key(
        OWNED,
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
    bad(
        OWNED,
        "complete_by",
        "'2026-11-22T06:00:00'",
        "'2026-11-22'",
        "'06:00'",
        "'tomorrow'",
        "'1795327200'",
        "-1",
        "253402300800",
        "'2026-11-22T06:00:00 Europe/Berlin'");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'complete_by': '2026-13-22T06:00:00Z'");
    add(Verdict.WARNED, IN_SETTINGS, "'complete_by': 0");
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
    bad(
        frame,
        "fail_job_when",
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
        "{'failed_task': 5}");
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
    bad(
        frame,
        "succeed_job_when",
        "{'done_pct': 0}",
        "{'done_pct': 100.1}",
        "{'done_pct': []}",
        "{'done_pc': 9}");
    add(Verdict.BAD_FOR_PARSER, frame, "'succeed_job_when': {'done_pct': '0'}");
    add(Verdict.BAD, frame, "'fail_job_wen': {'failed_tasks': 1}");
  }

  private void ofGroups() {
    key(IN_SETTINGS, "groups", List.of("{}", "{'_': 1}"), NO_OBJECT);
    bad(
        IN_SETTINGS,
        "groups",
        "{'a': {}}",
        "{'a': {'by': 'tag:t'}}",
        "{'a': {'max_concurrent': 1}}",
        "{'a': {'by': 'tag:t', 'max_concurrent': 1, 'max_fraction': 0.5}}",
        "{'a b': {'by': 'tag:t', 'max_concurrent': 1}}",
        "{'a': {'by': 'tag:t', 'max_concurent': 1}}");
    UnaryOperator<String> kind =
        member -> settings("'groups': {'replset': {'max_concurrent': 1, " + member + "}}");
    key(kind, "by", List.of("'attribute:a b'", "'tag:a-*'", "'tag:a'", "'tag:*'"), NO_TEXT);
    bad(kind, "by", "'replset'", "'attribute:'", "'tag:'", "'tag:a*b'");
    UnaryOperator<String> by =
        member -> settings("'groups': {'replset': {'by': 'tag:a', " + member + "}}");
    key(by, "max_concurrent", List.of("1", "'2'"), NO_NUMBER);
    bad(by, "max_concurrent", "0", "-1", "1.5");
    key(by, "max_fraction", List.of("1", "0.34", "'0.5'"), NO_NUMBER);
    bad(by, "max_fraction", "1.1", "-0.1");
    add(Verdict.BAD_FOR_PARSER, by, "'max_fraction': 0");
    UnaryOperator<String> level = member -> by.apply("'max_concurrent': 1, " + member);
    key(level, "level", List.of("'host'", "'instance'"), NO_TEXT);
    add(Verdict.BAD_FOR_PARSER, level, "'level': 'worker'", "'level': 'hosts'");
    key(level, "follows", List.of("[]"), List.of("{}", "'lag'", "1", "null"));
    add(Verdict.BAD_FOR_PARSER, level, "'follows': ['lag']");
  }

  private void ofProbes() {
    key(IN_SETTINGS, "probes", List.of("{}", "{'_': 1}"), NO_OBJECT);
    bad(
        IN_SETTINGS,
        "probes",
        "{'a': {}}",
        "{'a': {'bad_above': 5, 'good_below': 2}}",
        "{'a': {'source': 'push', 'good_below': 2}}",
        "{'a': {'source': 'push', 'bad_above': 5}}",
        "{'a b': {'source': 'push', 'bad_above': 5, 'good_below': 2}}",
        "{'a': {'source': 'push', 'bad_above': 5, 'good_below': 2, 'evry': 3}}");
    String bounds = "'bad_above': 5, 'good_below': 2, ";
    UnaryOperator<String> of = member -> settings("'probes': {'lag': {" + bounds + member + "}}");
    key(of, "source", List.of("'push'", "'file'"), List.of("[]", "{}", "true"));
    add(Verdict.BAD_FOR_PARSER, of, "'source': 'fiel'");
    UnaryOperator<String> pushed = member -> of.apply("'source': 'push', " + member);
    key(pushed, "prefs", List.of("{}", "{'path': 'x'}"), NO_OBJECT);
    key(pushed, "every", List.of("1", "'10s'", "'2m'"), List.of("0", "true", "[]", "'often'"));
    key(pushed, "max_age", List.of("60", "'1h'"), List.of("0", "true", "[]", "'old'"));
    key(pushed, "on_blind", List.of("'floor'", "'hold'"), List.of("'full'", "true", "1"));
    key(pushed, "level", List.of("'host'", "'instance'"), NO_TEXT);
    add(Verdict.BAD_FOR_PARSER, pushed, "'level': 'worker'", "'level': 'hosts'");
    UnaryOperator<String> polled = member -> of.apply("'source': 'file', " + member);
    add(Verdict.BAD_FOR_PARSER, polled, "'every': 60", "'max_age': 10");
    UnaryOperator<String> bad =
        member ->
            settings("'probes': {'lag': {'source': 'push', 'good_below': 2, " + member + "}}");
    key(bad, "bad_above", List.of("2", "5.5", "'6'"), NO_NUMBER);
    add(Verdict.BAD_FOR_PARSER, bad, "'bad_above': 1");
    UnaryOperator<String> good =
        member -> settings("'probes': {'lag': {'source': 'push', 'bad_above': 2, " + member + "}}");
    key(good, "good_below", List.of("2", "-5.5", "'1'"), NO_NUMBER);
  }

  private void ofQueues() {
    key(
        IN_SETTINGS,
        "queues",
        List.of("{}", "{'_': 1, 'default': {}, 'a.b:c-d': {'_': 1}}", "{'1': {}}"),
        NO_OBJECT);
    bad(
        IN_SETTINGS,
        "queues",
        "{'a b': {}}",
        "{'': {}}",
        "{'-a': {}}",
        "{'a': 1}",
        "{'a': {'max_slot': {}}}");
    key(
        IN_SETTINGS,
        "sets",
        List.of("{}", "{'_': 1, '2026-11': {}, 'a.b:c-d': {'_': 1}}"),
        NO_OBJECT);
    bad(
        IN_SETTINGS,
        "sets",
        "{'a b': {}}",
        "{'': {}}",
        "{'-a': {}}",
        "{'a': 1}",
        "{'a': {'fail_when_failed_job': 1}}");
    ofGroups();
    ofProbes();
    UnaryOperator<String> set = member -> settings("'sets': {'up': {" + member + "}}");
    key(set, "fail_when_failed_jobs", List.of("1", "'7'", "false"), NO_NUMBER_OR_FALSE);
    bad(set, "fail_when_failed_jobs", "0", "-1", "1.5");
    UnaryOperator<String> queue = member -> settings("'queues': {'etl': {" + member + "}}");
    key(queue, "priority_factor", List.of("1", "0.5", "'2'", "1e6", "1e-6"), NO_NUMBER);
    bad(queue, "priority_factor", "0", "-1", "1000001");
    key(queue, "weight", List.of("1", "0.5", "'2'", "1e6", "1e-6"), NO_NUMBER);
    bad(queue, "weight", "0", "-1", "1000001");
    key(queue, "max_slots", List.of("{}", "{'_': 1}", "{'slots': 0, 'ram': '9'}"), NO_OBJECT);
    bad(queue, "max_slots", "{'slots': -1}", "{'slots': 0.5}");
    key(queue, "max_fraction", List.of("{}", "{'slots': 0.5, 'ram': 1}"), NO_OBJECT);
    bad(queue, "max_fraction", "{'slots': 1.1}", "{'slots': -0.1}");
    add(Verdict.BAD_FOR_PARSER, queue, "'max_slots': {'slot': 1}", "'max_fraction': {'x': 1}");
    ofWindows(queue);
    key(IN_SETTINGS, "priority_half_life_sec", List.of("60", "0.001", "'1e3'"), NO_NUMBER);
    bad(IN_SETTINGS, "priority_half_life_sec", "0", "1000000001");
    for (UnaryOperator<String> frame : List.of(IN_SETTINGS, OWNED)) {
      key(frame, "queue", List.of("'default'"), NO_TEXT);
      add(Verdict.BAD_FOR_PARSER, frame, "'queue': 'etl'");
    }
    add(Verdict.GOOD, IN_SETTINGS, "'queues': {'etl': {}}, 'queue': 'etl'");
    add(Verdict.BAD_FOR_PARSER, IN_SETTINGS, "'queues': {'etl': {}}, 'queue': 'etk'");
  }

  private void ofWindows(UnaryOperator<String> queue) {
    for (UnaryOperator<String> frame : List.of(IN_SETTINGS, OWNED)) {
      key(frame, "overrun", List.of("'allow'", "'avoid'"), List.of("true", "'x'", "1", "{}"));
      key(
          frame,
          "at_window_end",
          List.of("'finish'", "'ask'", "'kill'"),
          List.of("true", "'x'", "1", "{}"));
      key(
          frame,
          "quarantine",
          List.of("'off'", "'suggest'", "'auto'"),
          List.of("true", "false", "'x'", "1", "{}"));
      key(frame, "assume", List.of("'30m'", "90", "false"), List.of("true", "'x'", "0", "[]"));
    }
    List<String> rules = List.of("[]", "[{'level': 'host', 'windows': ['Sat UTC']}]");
    key(IN_SETTINGS, "node_windows", rules, NO_LIST);
    UnaryOperator<String> rule = member -> settings("'node_windows': [{" + member + "}]");
    UnaryOperator<String> host = member -> rule.apply("'level': 'host', " + member);
    key(
        member -> rule.apply("'windows': ['Sat UTC'], " + member),
        "level",
        List.of("'host'", "'db'", "'instance'"),
        NO_TEXT);
    UnaryOperator<String> tagged = member -> host.apply("'windows': ['Sat UTC'], " + member);
    key(tagged, "tag", List.of("'eu'", "''", "7"), NO_TEXT);
    key(host, "attribute", List.of("'upkeep'", "7"), NO_TEXT);
    add(
        Verdict.BAD_FOR_PARSER,
        rule,
        "'level': 'hosts', 'windows': ['Sat UTC']",
        "'level': 'host'",
        "'level': 'host', 'attribute': 'a', 'windows': ['Sat UTC']");
    add(Verdict.BAD, rule, "'windows': ['Sat UTC']", "'level': 'host', 'windows': []");
    String days = "'from': '2026-12-18', 'to': '2027-01-04'";
    for (UnaryOperator<String> frame : List.of(IN_SETTINGS, OWNED, queue, host)) {
      key(
          frame,
          "windows",
          List.of("['Mon-Fri 22:00-05:00 Europe/Berlin', 'Sat-Sun UTC']", "['22:00-24:00 +02:00']"),
          NO_LIST);
      bad(frame, "windows", "[]", "['']", "['UTC']", "[null]", "[{}]");
      add(
          Verdict.BAD_FOR_PARSER,
          frame,
          "'windows': ['Mon 22:00-05:00']",
          "'windows': ['Mon Mars/Base']",
          "'windows': ['Mon 22:00-22:00 UTC']");
      add(Verdict.GOOD, frame, "'windows': ['Sat UTC'], 'freezes': [{" + days + "}]");
      key(frame, "freezes", List.of("[]", "[{'zone': 'UTC', " + days + "}]"), NO_LIST);
      UnaryOperator<String> freeze =
          member -> frame.apply("'freezes': [{'zone': 'UTC', " + member + "}]");
      UnaryOperator<String> first = member -> freeze.apply("'to': '2027-01-04', " + member);
      UnaryOperator<String> last = member -> freeze.apply("'from': '2026-12-18', " + member);
      UnaryOperator<String> both = member -> freeze.apply(days + ", " + member);
      key(first, "from", List.of("'2026-12-18'"), NO_TEXT);
      key(last, "to", List.of("'2027-01-04'"), NO_TEXT);
      bad(first, "from", "'18.12.2026'", "''");
      bad(last, "to", "'2027-1-4'");
      UnaryOperator<String> zoned =
          member -> frame.apply("'freezes': [{" + days + ", " + member + "}]");
      key(zoned, "zone", List.of("'UTC'", "'Europe/Berlin'", "'+02:00'"), NO_TEXT);
      key(both, "reason", List.of("'year end'", "''", "7"), NO_TEXT);
      add(Verdict.BAD, freeze, "'from': '2026-12-18'", "'to': '2027-01-04'");
      add(
          Verdict.BAD_FOR_PARSER,
          frame,
          "'freezes': [{" + days + "}]",
          "'freezes': [{'from': '2027-01-04', 'to': '2026-12-18', 'zone': 'UTC'}]");
    }
  }
}
