/**
 * Tasks that call a service (docs/calls.md): {@link io.espalier.worker.call.CallExecutor} follows
 * each call to its end; {@link io.espalier.worker.call.HttpCalls} and {@link
 * io.espalier.worker.call.ThriftCalls} make them.
 */
@NullMarked
package io.espalier.worker.call;

import org.jspecify.annotations.NullMarked;
