/** The status store in a SQLite file. */
@NullMarked
package io.espalier.server.store.jdbc.sqlite;

import org.jspecify.annotations.NullMarked;
