"""Prints how long ipykernel takes to get ready and to run a warm 1+1."""

import time

from jupyter_client.manager import start_new_kernel

begin = time.perf_counter()
manager, client = start_new_kernel()
ready = time.perf_counter() - begin
try:
    took = []
    for _ in range(60):
        begin = time.perf_counter()
        client.execute_interactive("1+1", output_hook=lambda message: None, timeout=30)
        took.append(time.perf_counter() - begin)
    took = sorted(took[10:])
    print("ready %.0f ms, 1+1 p50 %.2f ms" % (ready * 1e3, took[len(took) // 2] * 1e3))
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
