/**
 * Copies the output of tasks to a receiver outside this machine, in the order and with the ids of
 * the {@link io.espalier.core.logs.LogStore} (docs/log-shipping.md). The store is the queue: {@link
 * io.espalier.server.shipping.LogShipper} reads it from the line after the last one that the
 * receiver has taken, so a receiver that is away delays nothing and loses nothing that is still
 * kept.
 */
@NullMarked
package io.espalier.server.shipping;

import org.jspecify.annotations.NullMarked;
