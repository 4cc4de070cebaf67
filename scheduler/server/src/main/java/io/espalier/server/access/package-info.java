/** Authentication between clients and schedulers: tokens and certificates. */
@NullMarked
package io.espalier.server.access;

import org.jspecify.annotations.NullMarked;
