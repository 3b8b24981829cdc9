"""``specklescope batch``: many recordings through `specklescope run`, on this computer or on the workers of a Dask scheduler.

plan.py turns the command line into tasks, and finds those whose results exist. task.py runs one recording, on a worker.
workers.py distributes the tasks and repeats failed ones. study.py writes the table and the overview.
"""
