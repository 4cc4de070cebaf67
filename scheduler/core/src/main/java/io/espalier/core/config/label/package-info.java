/**
 * Labels: those of workers, with the expressions by which jobs choose workers; and those of jobs,
 * with what else a job tells people about itself.
 */
@NullMarked
package io.espalier.core.config.label;

import org.jspecify.annotations.NullMarked;
