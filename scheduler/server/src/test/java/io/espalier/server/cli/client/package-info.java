/** Client commands against a real server. */
@NullMarked
package io.espalier.server.cli.client;

import org.jspecify.annotations.NullMarked;
