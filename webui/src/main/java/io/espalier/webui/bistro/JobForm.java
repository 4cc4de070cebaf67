package io.espalier.webui.bistro;

import io.espalier.core.config.Job;
import io.espalier.core.config.Settings;
import io.espalier.core.json.Json;

/** How a job is written for Bistro's clients (behaviour 2.4). */
@FunctionalInterface
public interface JobForm {
  Json.Obj of(Job job, Settings settings);
}
