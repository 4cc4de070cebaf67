/**
 * The transport: authentication, framing, time-outs, limits. It does not depend on the content of
 * messages.
 */
@NullMarked
package io.espalier.thrift.rpc;

import org.jspecify.annotations.NullMarked;
