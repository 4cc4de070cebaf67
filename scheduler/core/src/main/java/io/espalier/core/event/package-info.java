/** What has happened, in order. */
@NullMarked
package io.espalier.core.event;

import org.jspecify.annotations.NullMarked;
