package io.espalier.core.config.task;

import java.time.Duration;

/**
 * The options of a call over Thrift (thrift/src/main/thrift/agent.thrift).
 *
 * @param host name or address; may contain placeholders, see {@link CallSpec}
 * @param timeout how long one request may take
 * @param every wait before the second question
 * @param upTo longest wait between two questions
 * @param notFound what it means that the service does not know a call
 */
public record ThriftCall(
    String host,
    int port,
    Duration timeout,
    Duration every,
    Duration upTo,
    HttpCall.NotFound notFound) {}
