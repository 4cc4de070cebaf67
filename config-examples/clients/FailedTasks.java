import io.espalier.client.ApiClient;
import io.espalier.client.ApiException;
import io.espalier.client.api.JobsApi;
import io.espalier.client.api.JobsApi.APIListJobsRequest;
import io.espalier.client.api.JobsApi.APIPauseJobRequest;
import io.espalier.client.api.TasksApi;
import io.espalier.client.api.TasksApi.APIListTasksRequest;
import io.espalier.client.model.Job;
import io.espalier.client.model.ListTasks200Response;
import io.espalier.client.model.PauseJobRequest;
import io.espalier.client.model.Status;
import io.espalier.client.model.Task;
import java.util.List;
import java.util.Map;

/**
 * Lists the failed tasks of all jobs: {@code FailedTasks SERVER [REASON]}. With a reason it pauses
 * these jobs.
 */
final class FailedTasks {
  public static void main(String[] arguments) throws ApiException {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    JobsApi jobs = new JobsApi(client);
    TasksApi tasks = new TasksApi(client);
    for (Job job : jobs.listJobs(APIListJobsRequest.newBuilder().build()).getJobs()) {
      String after = null;
      int failed = 0;
      do {
        ListTasks200Response page =
            tasks.listTasks(
                APIListTasksRequest.newBuilder()
                    .job(job.getName())
                    .status(List.of(Status.FAILED))
                    .after(after)
                    .build());
        for (Task task : page.getTasks()) {
          Object said = task.getData() instanceof Map<?, ?> data ? data.get("exception") : "";
          System.out.println(job.getName() + " " + task.getNode() + ": " + said);
        }
        failed += page.getTasks().size();
        after = page.getNext();
      } while (!after.isEmpty());
      if (failed > 0 && arguments.length > 1) {
        jobs.pauseJob(
            APIPauseJobRequest.newBuilder()
                .job(job.getName())
                .pauseJobRequest(new PauseJobRequest().reason(arguments[1]))
                .build());
      }
    }
  }
}
