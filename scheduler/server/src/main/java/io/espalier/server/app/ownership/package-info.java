/**
 * Who may write to a status store: leadership, leases, owners, and what a scheduler takes over from
 * the one before.
 */
@NullMarked
package io.espalier.server.app.ownership;

import org.jspecify.annotations.NullMarked;
