"""Work in several threads at once; nothing that is raised there is lost."""
import contextlib
import threading


def in_threads(count, work):
    """work(index) in that many threads at once; what each returned or raised."""
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
    """While the block runs each work is called again and again in a thread of its own; what one raises is raised."""
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
