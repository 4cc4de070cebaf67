/** What monitors may ask a scheduler, and what it answers. */
@NullMarked
package io.espalier.core.api;

import org.jspecify.annotations.NullMarked;
