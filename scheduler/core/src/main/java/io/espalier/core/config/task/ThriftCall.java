package io.espalier.core.config.task;

import java.time.Duration;
import java.util.Optional;

/**
 * The options of a call over Thrift (thrift/src/main/thrift/agent.thrift).
 *
 * @param host name or address; may contain placeholders, see {@link CallSpec}
 * @param timeout how long one request may take
 * @param every wait before the second question
 * @param upTo longest wait between two questions
 * @param notFound what it means that the service does not know a call
 * @param tls that the agent speaks TLS; empty: it does not
 * @param secretFile absolute path of a file with the secret that goes with each request; empty:
 *     none does
 */
public record ThriftCall(
    String host,
    int port,
    Duration timeout,
    Duration every,
    Duration upTo,
    HttpCall.NotFound notFound,
    Optional<CallTls> tls,
    Optional<String> secretFile) {}
