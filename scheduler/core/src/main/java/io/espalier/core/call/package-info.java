/**
 * Tasks that call a service instead of running a process: what a call is, what a service may
 * answer, and the course of one call from its sending to its end, as a pure state machine. Plug-ins
 * that make calls of a kind implement {@link io.espalier.core.call.CallClient} (docs/calls.md).
 */
@NullMarked
package io.espalier.core.call;

import org.jspecify.annotations.NullMarked;
