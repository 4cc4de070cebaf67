/** The status store in MySQL or MariaDB. */
@NullMarked
package io.espalier.server.store.jdbc.mysql;

import org.jspecify.annotations.NullMarked;
