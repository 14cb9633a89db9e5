"""A test that does not end; interop kills it, and looks whether the program ends."""
import time


def test_hangs(fetch1738, servers, capfd):
    servers("ftp")
    with capfd.disabled():
        print(fetch1738.url, flush=True)
    while True:
        time.sleep(60)
