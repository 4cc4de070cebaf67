/** What monitors see of redundancy groups (docs/groups.md). */
@NullMarked
package io.espalier.core.api.group;

import org.jspecify.annotations.NullMarked;
