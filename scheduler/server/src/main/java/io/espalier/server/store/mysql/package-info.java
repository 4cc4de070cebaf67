/** The status store in MySQL or MariaDB. */
@NullMarked
package io.espalier.server.store.mysql;

import org.jspecify.annotations.NullMarked;
