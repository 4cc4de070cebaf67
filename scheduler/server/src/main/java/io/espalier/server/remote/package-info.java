/** Runs tasks on remote workers: drives the scheduler's half of the protocol with real calls. */
@NullMarked
package io.espalier.server.remote;

import org.jspecify.annotations.NullMarked;
