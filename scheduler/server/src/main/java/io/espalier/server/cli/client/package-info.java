/** Commands that ask or tell a running scheduler something. */
@NullMarked
package io.espalier.server.cli.client;

import org.jspecify.annotations.NullMarked;
