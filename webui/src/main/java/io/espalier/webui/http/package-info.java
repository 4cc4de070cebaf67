/**
 * The common handlers of all requests: limits of connections, host and origin, authentication, the
 * contract, the audit log; and sending of answers.
 */
@NullMarked
package io.espalier.webui.http;

import org.jspecify.annotations.NullMarked;
