/** The node source that queries a database. */
@NullMarked
package io.espalier.nodes.sql;

import org.jspecify.annotations.NullMarked;
