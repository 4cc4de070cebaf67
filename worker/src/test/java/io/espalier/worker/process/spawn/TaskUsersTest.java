package io.espalier.worker.process.spawn;

import static org.assertj.core.api.Assertions.assertThat;

import io.espalier.core.config.task.ProcessAttributes.RunAs;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who asks for a user gets an answer, whatever happens: a task waits for it. */
final class TaskUsersTest {
  private static final RunAs ANN = new RunAs("ann", Optional.empty());
  private static final String NO_THREAD = "unable to create native thread";

  private final BlockingQueue<Runnable> supervisor = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> problems = new LinkedBlockingQueue<>();

  @Test
  void aLookupForWhichThereIsNoThreadIsAnsweredWithTheProblem() throws Exception {
    TaskUsers.Lookup failing =
        wanted -> {
          // As when the program that is asked cannot be watched.
          throw new OutOfMemoryError(NO_THREAD);
        };
    try (TaskUsers users = new TaskUsers(supervisor::add, failing, Thread::new)) {
      users.find(ANN, (user, problem) -> problems.add(problem));
      Runnable answer = supervisor.poll(20, TimeUnit.SECONDS);
      assertThat(answer).isNotNull();
      answer.run();
    }
    assertThat(problems).containsExactly("run_as ann: " + NO_THREAD);
  }

  @Test
  void aMachineWithoutAThreadToAskOnIsAnsweredWithTheProblem() {
    TaskUsers.Lookup unused =
        wanted -> {
          throw new IllegalStateException("not asked");
        };
    try (TaskUsers users =
        new TaskUsers(
            supervisor::add,
            unused,
            work -> {
              // An executor of a later JDK does not start its threads by Thread.start.
              throw new OutOfMemoryError(NO_THREAD);
            })) {
      users.find(ANN, (user, problem) -> problems.add(problem));
    }
    assertThat(problems).containsExactly("run_as ann: " + NO_THREAD);
  }
}
