/** Sources of configurations, and editing of jobs in them. */
@NullMarked
package io.espalier.core.config.source;

import org.jspecify.annotations.NullMarked;
