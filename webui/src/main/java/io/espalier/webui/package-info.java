/**
 * The web servers of a scheduler, of a standby, and of the page over many schedulers, with their
 * routes.
 *
 * <p>{@code http} contains the common handlers of all routes, {@code stream} the event streams,
 * {@code page} the files of the page, {@code tls} the certificates, {@code whatif} the what-ifs.
 */
@NullMarked
package io.espalier.webui;

import org.jspecify.annotations.NullMarked;
