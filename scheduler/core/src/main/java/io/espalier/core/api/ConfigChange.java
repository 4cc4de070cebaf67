package io.espalier.core.api;

import io.espalier.core.json.Json;

/**
 * A configuration to plan or to apply. Its jobs are added or replaced; its settings, if it has any,
 * replace those that there are.
 *
 * @param members {@code bistro_settings} and {@code bistro_job->NAME} as in a configuration, a job
 *     that is {@code null} is deleted; other members mean nothing
 * @param prune whether jobs that are not in it are deleted
 */
public record ConfigChange(Json.Obj members, boolean prune) {}
