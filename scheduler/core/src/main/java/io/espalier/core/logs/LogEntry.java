package io.espalier.core.logs;

/**
 * A line to be stored.
 *
 * @param invocation token of the attempt that wrote it; empty: none
 * @param timeMillis epoch milliseconds
 * @param text text, with its line end if the task wrote one; secrets are already redacted
 */
public record LogEntry(
    LogLine.Stream stream,
    String job,
    String node,
    String invocation,
    long timeMillis,
    String text) {}
