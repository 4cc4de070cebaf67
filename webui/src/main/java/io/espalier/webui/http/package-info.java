/**
 * What every request goes through: limits of connections, host and origin, who asks, the contract,
 * the audit log; and how answers are sent.
 */
@NullMarked
package io.espalier.webui.http;

import org.jspecify.annotations.NullMarked;
