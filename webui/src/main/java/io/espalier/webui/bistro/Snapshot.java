package io.espalier.webui.bistro;

import io.espalier.core.api.view.SchedulerView;
import io.espalier.core.config.Config;
import io.espalier.webui.security.Principal;

/**
 * The data from which all sub-queries of one request are answered.
 *
 * @param caller the authorised caller
 */
record Snapshot(Config config, SchedulerView view, Principal caller) {}
