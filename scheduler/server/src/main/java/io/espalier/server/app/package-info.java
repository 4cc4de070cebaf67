/** The scheduler process and the worker process: how their parts are put together and closed. */
@NullMarked
package io.espalier.server.app;

import org.jspecify.annotations.NullMarked;
