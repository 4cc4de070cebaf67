package io.espalier.webui.bistro;

import io.espalier.core.api.SchedulerView;
import io.espalier.core.config.Config;

/** What all sub-queries of one request are answered from. */
record Snapshot(Config config, SchedulerView view) {}
