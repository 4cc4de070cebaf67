/** Commands that change something. */
@NullMarked
package io.espalier.server.cli.client.operate;

import org.jspecify.annotations.NullMarked;
