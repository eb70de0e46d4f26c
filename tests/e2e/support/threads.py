"""Runs functions in several threads at once and raises their exceptions in the caller."""
import contextlib
import threading


def in_threads(count, work):
    """Runs work(index) in `count` threads at once. Returns the list of their results, or raises one of their exceptions."""
    results = [None] * count
    barrier = threading.Barrier(count)

    def run(index):
        try:
            barrier.wait()
            results[index] = work(index)
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@contextlib.contextmanager
def meanwhile(works):
    """While the block runs, calls each function again and again in a thread of its own. Raises an exception of one of them.
    """
    over, raised = threading.Event(), []

    def run(work):
        try:
            while not over.is_set():
                work()
        except Exception as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if raised:
        raise raised[0]
