"""Lists the failed tasks of all jobs: failed_tasks.py SERVER [REASON]. With a reason it pauses these jobs."""

import sys

from espalier_client import ApiClient, Configuration, JobsApi, PauseJobRequest, TasksApi


def main(server, reason=None):
    with ApiClient(Configuration(host=server)) as client:
        jobs, tasks = JobsApi(client), TasksApi(client)
        for job in jobs.list_jobs().jobs:
            after, failed = None, 0
            while after != "":
                page = tasks.list_tasks(job.name, status=["failed"], after=after)
                for task in page.tasks:
                    print(f"{job.name} {task.node}: {(task.data or {}).get('exception', '')}")
                failed += len(page.tasks)
                after = page.next
            if failed and reason:
                jobs.pause_job(job.name, pause_job_request=PauseJobRequest(reason=reason))


main(*sys.argv[1:])
