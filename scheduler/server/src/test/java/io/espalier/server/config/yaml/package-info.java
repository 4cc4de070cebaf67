/** Tests of the YAML notation. */
@NullMarked
package io.espalier.server.config.yaml;

import org.jspecify.annotations.NullMarked;
