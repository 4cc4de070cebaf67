package io.espalier.webui.bistro;

import io.espalier.core.api.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.webui.security.Principal;

/**
 * What all sub-queries of one request are answered from.
 *
 * @param caller who asks
 */
record Snapshot(Config config, SchedulerView view, Principal caller) {}
