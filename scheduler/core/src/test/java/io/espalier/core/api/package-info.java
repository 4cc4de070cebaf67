/** What monitors see, tested. */
@NullMarked
package io.espalier.core.api;

import org.jspecify.annotations.NullMarked;
