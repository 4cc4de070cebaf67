/**
 * Tasks that call a service (docs/calls.md): {@link io.espalier.worker.call.CallExecutor} follows
 * each call to its end, and {@link io.espalier.worker.call.HttpCalls} makes those over HTTP.
 */
@NullMarked
package io.espalier.worker.call;

import org.jspecify.annotations.NullMarked;
