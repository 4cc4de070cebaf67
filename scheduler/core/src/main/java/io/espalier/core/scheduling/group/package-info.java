/**
 * Redundancy groups (docs/groups.md, docs/adr/0075-groups.md): of the nodes that stand in for each
 * other, only so many are busy at once.
 *
 * <p>A group is a second tree over the nodes: whether a task may start below a member depends on
 * the other members, wherever they hang. The index of startable tasks answers for one path from the
 * root to a leaf. To keep it exact for groups, it would have to change a bit of every member
 * whenever a group becomes full or gets room. Instead it may be too optimistic, but never too
 * pessimistic:
 *
 * <ol>
 *   <li><b>Park.</b> Before a task starts, the groups on its path are asked. When one is full, the
 *       task does not start; the member is parked: closed in the index, and put into a list of its
 *       group. Then the search goes on.
 *   <li><b>Wake.</b> When a round has found nothing more to start, groups that have room again open
 *       their parked members, the one that was parked first at first, and the round goes on. It is
 *       over when no group with room has parked members.
 * </ol>
 *
 * <p>So a limit is never exceeded, because each start asks, and at the end of a round no task is
 * left that could start, because then all members that are still parked belong to groups without
 * room. Each wake is paid for by a park, and each park by a walk that found no task. In the steady
 * state that is one of each per member that becomes idle.
 *
 * <p>{@link io.espalier.core.scheduling.group.GroupMembers} says which node is in which groups; it
 * follows from configuration and nodes alone and is computed outside the scheduler thread. {@link
 * io.espalier.core.scheduling.group.RedundancyGroups} counts and decides. Where no groups are
 * configured, neither exists.
 */
@NullMarked
package io.espalier.core.scheduling.group;

import org.jspecify.annotations.NullMarked;
