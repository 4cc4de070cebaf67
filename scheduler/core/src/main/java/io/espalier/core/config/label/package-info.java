/** Labels of workers, and the expressions by which jobs choose workers. */
@NullMarked
package io.espalier.core.config.label;

import org.jspecify.annotations.NullMarked;
