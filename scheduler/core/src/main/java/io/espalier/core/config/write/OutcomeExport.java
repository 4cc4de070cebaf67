package io.espalier.core.config.write;

import io.espalier.core.config.OutcomeRules;
import io.espalier.core.config.read.OutcomeParser;
import io.espalier.core.json.Json;

/** Writes {@code fail_job_when} and {@code succeed_job_when} where they have an effect. */
final class OutcomeExport {
  private OutcomeExport() {}

  static void put(Json.Builder out, OutcomeRules rules, OutcomeRules inherited) {
    if (rules.canFail()) {
      out.put(OutcomeParser.FAIL, failing(rules));
    } else if (inherited.canFail()) {
      out.put(OutcomeParser.FAIL, Json.Bool.FALSE);
    }
    if (rules.donePercent() == OutcomeRules.NEVER) {
      out.put(OutcomeParser.SUCCEED, OutcomeParser.NEVER);
    } else if (rules.donePercent() != OutcomeRules.DEFAULT.donePercent()) {
      out.put(OutcomeParser.SUCCEED, Json.object().put("done_pct", rules.donePercent()).build());
    } else if (inherited.donePercent() != OutcomeRules.DEFAULT.donePercent()) {
      out.put(OutcomeParser.SUCCEED, Json.Bool.FALSE);
    }
  }

  private static Json.Obj failing(OutcomeRules rules) {
    Json.Builder out = Json.object();
    rules.failedTasks().ifPresent(tasks -> out.put("failed_tasks", tasks));
    rules.failedPercent().ifPresent(percent -> out.put("failed_pct", percent));
    if (rules.minSamples() != OutcomeRules.DEFAULT.minSamples()) {
      out.put("min_samples", rules.minSamples());
    }
    rules.window().ifPresent(window -> out.put("window", window.toMillis() / 1000.0));
    return out.build();
  }
}
