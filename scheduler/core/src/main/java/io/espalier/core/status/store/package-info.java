/** The port of the status store, and what is stored beside statuses. */
@NullMarked
package io.espalier.core.status.store;

import org.jspecify.annotations.NullMarked;
