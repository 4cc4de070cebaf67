/** Tasks on remote workers: the scheduler's half of the protocol driven by real calls. */
@NullMarked
package io.espalier.server.remote;

import org.jspecify.annotations.NullMarked;
