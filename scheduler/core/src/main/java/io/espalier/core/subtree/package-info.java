/** How subtrees move from one of several schedulers to another (docs/sharding.md). */
@NullMarked
package io.espalier.core.subtree;

import org.jspecify.annotations.NullMarked;
