package io.espalier.server.config;

import java.util.List;
import java.util.function.UnaryOperator;

/** Levels, node sources and resources. */
final class SchemaRowsOfNodes extends SchemaRows {
  SchemaRowsOfNodes() {
    ofNodesAndResources();
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
    bad(guard, "removed_percent", "-1", "100.1");
    key(guard, "added_percent", List.of("0", "1000", "'20'"), List.of("-1", "1e10", "'x'"));
    key(guard, "reparented_percent", List.of("0", "100", "'5'"), List.of("-1", "101", "'x'"));
    key(guard, "confirmations", List.of("0", "3", "'5'"), List.of("-1", "1.5", "'x'"));
  }

  private void ofNodesAndResources() {
    bad(SchemaRows::onlySettings, "nodes", "{'levels': []}");
    bad(SchemaRows::onlySettings, "resources", "{}");
    key(
        member -> onlySettings(member + ", 'resources': {}"),
        "nodes",
        List.of("{'levels': []}"),
        List.of("{}", "[]", "null", "1", "'x'"));
    key(SchemaRows::nodes, "levels", List.of("[]", "['a']", "['a b', 7]"), NO_LIST);
    bad(
        SchemaRows::nodes,
        "levels",
        "['instance']",
        "['worker']",
        "['']",
        "['a\\u0000']",
        "[null]",
        "[[]]",
        "[true]");
    add(Verdict.WARNED, SchemaRows::nodes, "'levels': ['a', 'a']");
    UnaryOperator<String> more = member -> nodes("'levels': [], " + member);
    key(
        more,
        "node_sources",
        List.of("[{'source': 'empty'}]", "[{'source': 'manual', 'prefs': {'a': 1}}]"),
        NO_LIST);
    add(Verdict.BAD_FOR_PARSER, more, "'node_sources': [{'source': 'manaul'}]");
    bad(
        more,
        "node_sources",
        "[1]",
        "[{}]",
        "[{'source': null}]",
        "[{'source': 'manual', 'prefs': []}]",
        "[{'source': 'manual', 'pref': {}}]");
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
      add(Verdict.GOOD, UnaryOperator.identity(), resources(good));
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
      add(Verdict.BAD, UnaryOperator.identity(), resources(bad));
    }
    for (String bad :
        List.of(
            "{'nope': {}}",
            "{'host': {'r': {'default': 1, 'limit': 1}}, 'instance': {'r': {'default': 1, 'limit': 1}}}")) {
      add(Verdict.BAD_FOR_PARSER, UnaryOperator.identity(), resources(bad));
    }
  }
}
