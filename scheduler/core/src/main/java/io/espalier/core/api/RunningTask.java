package io.espalier.core.api;

import io.espalier.core.running.Invocation;

/** A live invocation as monitors see it. */
public record RunningTask(
    String job, String node, Invocation invocation, int attempt, String workerShard) {}
