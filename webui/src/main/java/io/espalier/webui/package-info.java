/**
 * The web servers of a scheduler, of a standby, and of the page over many schedulers: which routes
 * each of them has.
 *
 * <p>{@code http} has what every route goes through, {@code stream} the event streams, {@code page}
 * the files of the page, {@code tls} the certificates.
 */
@NullMarked
package io.espalier.webui;

import org.jspecify.annotations.NullMarked;
