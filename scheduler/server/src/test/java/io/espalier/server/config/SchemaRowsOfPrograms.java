package io.espalier.server.config;

import java.util.List;
import java.util.function.UnaryOperator;

/** What the tasks of a job run: calls of services, steps, compensation and verification. */
final class SchemaRowsOfPrograms extends SchemaRows {
  SchemaRowsOfPrograms() {
    calls();
    steps();
  }

  private void calls() {
    String http = "{'url': 'http://{node}:80/x'}";
    key(
        OWNED,
        "call",
        List.of("{'http': " + http + "}", "{'executor': 'soap', 'options': {}}"),
        NO_OBJECT);
    bad(OWNED, "call", "{}", "{'idempotent': true}");
    UnaryOperator<String> call = SchemaRowsOfPrograms::call;
    key(call, "http", List.of(http), List.of("{}", "[]", "'x'", "{'url': 'ftp://x'}"));
    key(call, "executor", List.of("'soap'"), List.of("{}", "null"));
    UnaryOperator<String> soap = member -> call("'executor': 'soap', " + member);
    key(soap, "options", List.of("{}", "{'a': [1]}"), NO_OBJECT);
    key(soap, "idempotent", List.of("true", "0"), List.of("'yes'", "null"));
    key(soap, "unknown_hold_sec", List.of("0", "'7.5'"), List.of("-1", "2592001", "{}"));
    key(soap, "callback", List.of("{}", "{'base_url': 'https://e:80'}"), List.of("'x'", "[]"));
    key(
        member -> soap.apply("'callback': {" + member + "}"),
        "base_url",
        List.of("'http://e'", "'https://[::1]:80'"),
        List.of("'e'", "'http://e/'", "'http://{host}'", "{}"));
    String agent = "{'host': '{node}', 'port': 90}";
    key(call, "thrift", List.of(agent), List.of("{}", "[]", "{'host': 'h'}"));
    key(
        member -> call("'thrift': {'port': 90, " + member + "}"),
        "host",
        List.of("'{db}'", "'::1'", "'a.b-c'"),
        List.of("''", "[]"));
    key(
        member -> call("'thrift': {'host': 'h', " + member + "}"),
        "port",
        List.of("1", "65535"),
        List.of("0", "65536", "'x'"));
    UnaryOperator<String> thrift =
        member -> call("'thrift': {'host': 'h', 'port': 90, " + member + "}");
    key(thrift, "timeout_sec", List.of("1", "'0.5'"), List.of("0", "86401", "[]"));
    key(thrift, "every_sec", List.of("0.5", "2"), List.of("0", "-1", "null"));
    key(thrift, "up_to_sec", List.of("0.5", "2"), List.of("0", "-1", "null"));
    key(thrift, "not_found", List.of("'unknown'", "'never_started'"), List.of("'no'", "1"));
    key(thrift, "secret_file", List.of("'/b'"), List.of("'b'", "{}"));
    key(thrift, "tls", List.of("{}", "{'ca_file': '/a'}"), NO_OBJECT);
    UnaryOperator<String> tls = member -> thrift.apply("'tls': {" + member + "}");
    key(tls, "ca_file", List.of("'/a'"), List.of("'a'", "[]"));
    String key = ", 'key_file': '/k'";
    key(member -> tls.apply(member + key), "cert_file", List.of("'/a'"), List.of("'a'", "[]"));
    String certificate = ", 'cert_file': '/k'";
    key(
        member -> tls.apply(member + certificate),
        "key_file",
        List.of("'/a'"),
        List.of("'a'", "[]"));
    add(Verdict.BAD_FOR_PARSER, tls, "'cert_file': '/a'", "'key_file': '/a'");
    key(SchemaRowsOfPrograms::http, "url", List.of("'https://{db}/'"), List.of("'h'", "1", "null"));
    UnaryOperator<String> more = member -> http("'url': 'http://h', " + member);
    key(more, "method", List.of("'PUT'"), List.of("'put'", "''", "[]"));
    key(more, "body", List.of("{}", "'text'"), List.of("1", "[]", "null"));
    key(more, "headers", List.of("{}", "{'A': 'b', 'C': 7}"), List.of("[]", "{'A': []}"));
    key(more, "headers_file", List.of("'/b'"), List.of("'b'", "{}"));
    add(Verdict.BAD_FOR_PARSER, more, "'tls': {}");
    key(
        member -> http("'url': 'https://h', " + member),
        "tls",
        List.of("{}", "{'ca_file': '/a'}"),
        NO_OBJECT);
    key(more, "success", List.of("[]", "[200, 299]"), List.of("200", "[99]", "[600]"));
    key(more, "timeout_sec", List.of("1", "'0.5'"), List.of("0", "86401", "[]"));
    key(more, "poll", List.of("{'url': 'http://h'}"), List.of("{}", "'http://h'"));
    key(more, "cancel", List.of("{'url': 'http://h'}"), List.of("{}", "'http://h'"));
    UnaryOperator<String> poll =
        member -> more.apply("'poll': {'url': 'http://h', " + member + "}");
    key(poll, "every_sec", List.of("0.5", "2"), List.of("0", "-1", "null"));
    key(poll, "up_to_sec", List.of("0.5", "2"), List.of("0", "-1", "null"));
    key(poll, "not_found", List.of("'unknown'", "'never_started'"), List.of("'no'", "1"));
  }

  private void steps() {
    String step = "{'name': 'a', 'command': ['x']}";
    key(OWNED, "steps", List.of("[" + step + "]"), NO_LIST);
    bad(OWNED, "steps", "[{}]", "[{'name': 'a'}]", "['a']");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'steps': []");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'steps': [" + step + ", " + step + "]");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'steps': [" + step.replace("'a'", "'verify'") + "]");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'command': ['x'], 'steps': [" + step + "]");
    key(OWNED, "hold", BOOLS, NO_BOOL);
    key(OWNED, "restart_from", List.of("'first'", "'step'"), List.of("'last'", "1"));
    UnaryOperator<String> stepped = member -> owned("'steps': [" + step + "], " + member);
    String undo = "{'step': 'a', 'command': ['y']}";
    key(stepped, "compensate", List.of("[]", "[" + undo + "]"), NO_LIST);
    bad(stepped, "compensate", "[{}]", "[{'step': 'a'}]", "[['a']]");
    add(Verdict.BAD_FOR_PARSER, stepped, "'compensate': [" + undo + ", " + undo + "]");
    add(Verdict.BAD_FOR_PARSER, stepped, "'compensate': [" + undo.replace("'a'", "'b'") + "]");
    add(Verdict.BAD_FOR_PARSER, OWNED, "'compensate': [" + undo + "]");
    UnaryOperator<String> first = member -> owned("'steps': [{'command': ['x'], " + member + "}]");
    UnaryOperator<String> undoing = member -> stepped.apply("'compensate': [{" + member + "}]");
    key(first, "name", List.of("'a-B_1.2'", "7"), List.of("''", "'a b'", "'-a'", "null"));
    key(
        member -> undoing.apply("'command': ['y'], " + member),
        "step",
        List.of("'a'"),
        List.of("''", "[]"));
    UnaryOperator<String> verify = member -> owned("'verify': {" + member + "}");
    key(OWNED, "verify", List.of("{'command': ['x']}"), List.of("{}", "'x'", "null"));
    UnaryOperator<String> verified = member -> verify.apply("'command': ['x'], " + member);
    key(
        verified,
        "on",
        List.of("'all'", "'1%'", "'0.5%'", "'100%'", "100", "'7'"),
        List.of("'some'", "0", "-1", "true", "'%'", "'1 %'", "1.5"));
    add(Verdict.BAD_FOR_PARSER, verified, "'on': '0%'");
    add(Verdict.BAD_FOR_PARSER, verified, "'on': '101%'");
    key(verified, "retries", List.of("0", "'3'"), List.of("-1", "1.5", "null"));
    for (UnaryOperator<String> frame :
        List.<UnaryOperator<String>>of(
            verify,
            member -> owned("'steps': [{'name': 'a', " + member + "}]"),
            member -> undoing.apply("'step': 'a', " + member))) {
      key(frame, "command", List.of("['a', 'b']"), NO_LIST);
      bad(frame, "command", "['']", "['\\u0000']");
      add(Verdict.BAD_FOR_PARSER, frame, "'command': []");
      key(frame, "call", List.of("{'executor': 'soap'}"), List.of("{}", "'x'", "null"));
      bad(frame, "call", "{'executor': 'soap'}, 'command': ['x']");
      UnaryOperator<String> more = member -> frame.apply("'command': ['x'], " + member);
      key(more, "timeout_sec", List.of("1", "'0.5'"), List.of("0", "1000000001", "false"));
      key(more, "no_output_timeout_sec", List.of("1", "'0.5'"), List.of("0", "[]", "false"));
    }
    key(
        member -> first.apply("'name': 'a', " + member),
        "on_failure",
        List.of("'retry'", "'undo'"),
        List.of("'fail'", "true"));
  }

  private static String call(String member) {
    return owned("'call': {" + member + "}");
  }

  private static String http(String member) {
    return call("'http': {" + member + "}");
  }
}
