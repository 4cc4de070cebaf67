package io.espalier.policies;

import io.espalier.core.scheduling.Round;
import io.espalier.core.scheduling.SchedulingPolicy;

/**
 * Shares the starts among the queues that have an open job. Within a queue jobs take turns. The
 * shares follow from factors, or from weights if a queue has one.
 *
 * <p><b>By factors</b> each queue gets a share of {@code (1/eff_i) / sum(1/eff_j)}, where {@code
 * eff} is its effective priority, that is, its recent usage times its factor
 * (docs/design/features.md#shares-of-queues).
 *
 * <p>With each start every queue is credited its share, and the queue that starts pays one. A queue
 * with a credit of a whole start goes first; otherwise a lottery decides, weighted by the credits.
 * So after n starts a queue with the share s has had s times n, give or take one, without knowing
 * how many slots are free. Credits survive rounds, so that this is also true where slots become
 * free one at a time. The share of a queue that has nothing to start goes to the others; a queue
 * never saves up more than one turn. A turn is a start, or a batch, which counts as as many starts
 * as it has tasks.
 *
 * <p><b>By weights</b> the next start goes to the queue with the least usage for its weight: its
 * recent usage plus what its running tasks will add within one half-life, divided by its weight. As
 * each start counts at once, free slots are shared out within a round; and as usage is what counts,
 * queues whose tasks take longer get no more. Among equals, such as queues without any usage, the
 * queue with the highest credit by weight is next.
 */
public final class FairSharePolicy implements SchedulingPolicy {
  @Override
  public String name() {
    return "fair_share";
  }

  @Override
  public void schedule(Round round) {
    if (round.isOver()) {
      return;
    }
    if (round.isByWeight()) {
      byWeight(round);
    } else {
      new Slice(round).run();
    }
  }

  private static void byWeight(Round round) {
    int[] open = new int[round.queueCount()];
    int count = 0;
    double total = 0;
    for (int queue = 0; queue < open.length; queue++) {
      if (round.isQueueOpen(queue)) {
        open[count++] = queue;
        total += round.weight(queue);
      }
    }
    while (count > 0 && !round.isOver()) {
      int at = 0;
      for (int i = 1; i < count; i++) {
        at = isBefore(round, open[i], open[at], total) ? i : at;
      }
      int job = round.nextInTurn(open[at]);
      int placed = job < 0 ? 0 : round.place(job);
      if (placed > 0) {
        for (int i = 0; i < count; i++) {
          double share = round.weight(open[i]) / total;
          due(round, open[i], placed * (share - (i == at ? 1 : 0)));
        }
      } else {
        total -= round.weight(open[at]);
        open[at] = open[--count];
      }
    }
  }

  private static boolean isBefore(Round round, int queue, int other, double total) {
    double less = round.effectivePriority(other) - round.effectivePriority(queue);
    return less > 0 || (less == 0 && dueNext(round, queue, total) > dueNext(round, other, total));
  }

  private static double dueNext(Round round, int queue, double total) {
    return round.balance(queue) + round.weight(queue) / total;
  }

  /** Adjusts a credit, limited to one turn: only usage accumulates. */
  private static void due(Round round, int queue, double more) {
    keep(round, queue, round.balance(queue) + more);
  }

  /** Stores a credit, limited to one turn: a start, or as many as a batch may have. */
  private static void keep(Round round, int queue, double credit) {
    int most = round.mostAtOnce();
    round.setBalance(queue, Math.max(-most, Math.min(most, credit)));
  }

  /** The queues with an open job, and the credit of each. */
  private static final class Slice {
    private final Round round;
    private final int[] queues;
    private final double[] weights;
    private final double[] due;
    private int count;
    private double total;

    Slice(Round round) {
      this.round = round;
      int all = round.queueCount();
      queues = new int[all];
      weights = new double[all];
      due = new double[all];
      for (int queue = 0; queue < all; queue++) {
        if (round.isQueueOpen(queue)) {
          queues[count] = queue;
          weights[count] = 1 / round.effectivePriority(queue);
          due[count++] = round.balance(queue);
        }
      }
      settle();
    }

    void run() {
      while (count > 0 && !round.isOver()) {
        int at = next();
        int job = round.nextInTurn(queues[at]);
        int placed = job < 0 ? 0 : round.place(job);
        if (placed > 0) {
          for (int i = 0; i < count; i++) {
            due[i] += placed * (weights[i] / total);
          }
          due[at] -= placed;
        } else {
          drop(at);
        }
      }
      for (int i = 0; i < count; i++) {
        keep(i);
      }
    }

    /** Saves a credit, whatever other queues left behind. */
    private void keep(int at) {
      FairSharePolicy.keep(round, queues[at], due[at]);
    }

    /**
     * Draws the next queue, weighted by the credits after the next start; a queue with a credit of
     * a whole start goes first.
     */
    private int next() {
      int most = 0;
      double sum = 0;
      for (int i = 0; i < count; i++) {
        double credit = credit(i);
        most = credit > credit(most) ? i : most;
        sum += Math.max(0, credit);
      }
      if (credit(most) >= 1) {
        return most;
      }
      double point = round.random().fraction() * sum;
      for (int i = 0; i < count; i++) {
        point -= Math.max(0, credit(i));
        if (point < 0) {
          return i;
        }
      }
      // Rounding may leave a remainder.
      return most;
    }

    private double credit(int at) {
      return due[at] + weights[at] / total;
    }

    private void drop(int at) {
      keep(at);
      count--;
      queues[at] = queues[count];
      weights[at] = weights[count];
      due[at] = due[count];
      settle();
    }

    /** Adjusts the credits of the remaining queues so that they add up to zero. */
    private void settle() {
      total = 0;
      double sum = 0;
      for (int i = 0; i < count; i++) {
        total += weights[i];
        sum += due[i];
      }
      for (int i = 0; i < count; i++) {
        due[i] -= sum * weights[i] / total;
      }
    }
  }
}
