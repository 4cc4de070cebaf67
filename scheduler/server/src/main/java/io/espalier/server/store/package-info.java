/** Durable state: status stores, the writer in front of them, the data directory. */
@NullMarked
package io.espalier.server.store;

import org.jspecify.annotations.NullMarked;
