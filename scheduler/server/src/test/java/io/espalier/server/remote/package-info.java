/** Tests of remote workers, with real calls and processes. */
@NullMarked
package io.espalier.server.remote;

import org.jspecify.annotations.NullMarked;
