package io.espalier.core.running;

/** An invocation and the worker that was recorded for it before it was sent there. */
public record Assignment(String job, String node, Invocation invocation, WorkerRef worker) {}
