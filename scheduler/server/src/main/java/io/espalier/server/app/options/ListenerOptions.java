package io.espalier.server.app.options;

import io.espalier.server.security.HttpSecurityOptions;
import java.util.Optional;

/**
 * The HTTP listener of a scheduler process.
 *
 * @param address empty: it does not listen
 * @param access who may call
 */
public record ListenerOptions(Optional<HostPort> address, HttpSecurityOptions access) {}
