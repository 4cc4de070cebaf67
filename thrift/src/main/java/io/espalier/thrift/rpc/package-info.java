/** The transport: who may connect, framing, time-outs, bounds. Nothing here knows what is said. */
@NullMarked
package io.espalier.thrift.rpc;

import org.jspecify.annotations.NullMarked;
