/** Classes that break the rules of the architecture, so that their test can be seen to bite. */
@NullMarked
package io.espalier.cli.architecture;

import org.jspecify.annotations.NullMarked;
