/**
 * The status store in a database: one implementation, and a {@link
 * io.espalier.server.store.jdbc.Dialect} for what is special to a database.
 */
@NullMarked
package io.espalier.server.store.jdbc;

import org.jspecify.annotations.NullMarked;
