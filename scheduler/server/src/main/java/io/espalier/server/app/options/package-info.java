/** The checked options of a scheduler process. */
@NullMarked
package io.espalier.server.app.options;

import org.jspecify.annotations.NullMarked;
