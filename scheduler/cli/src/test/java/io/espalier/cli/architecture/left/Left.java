package io.espalier.cli.architecture.left;

import io.espalier.cli.architecture.right.Right;

/** Half a cycle. */
public record Left(Right right) {}
