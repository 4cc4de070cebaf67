package io.espalier.core.running;

/** An invocation and the worker that it was recorded for before it was sent there. */
public record Assignment(String job, String node, Invocation invocation, WorkerRef worker) {}
