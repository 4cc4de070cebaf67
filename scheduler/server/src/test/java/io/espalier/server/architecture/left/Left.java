package io.espalier.server.architecture.left;

import io.espalier.server.architecture.right.Right;

/** Half a cycle. */
public record Left(Right right) {}
