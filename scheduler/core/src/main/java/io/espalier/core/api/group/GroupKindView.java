package io.espalier.core.api.group;

/**
 * The redundancy groups of one kind, in numbers (docs/groups.md).
 *
 * @param name name of the kind, such as {@code replset}
 * @param level name of the level whose nodes are the members
 * @param by what makes a group, as configured
 * @param groups number of groups
 * @param members members of all groups; a node in two groups counts twice
 * @param outside nodes of the level that are in no group, and are not limited
 * @param busy members with running tasks on them or below them
 * @param full groups in which no further member may become busy
 * @param parked members that are closed because their group was full when a task was to start there
 * @param parks how many members were closed so since the last change of configuration or nodes
 * @param wakes how many of them were opened again
 */
public record GroupKindView(
    String name,
    String level,
    String by,
    int groups,
    int members,
    int outside,
    int busy,
    int full,
    int parked,
    long parks,
    long wakes) {}
