"""A test that does not end; interop kills it, and looks whether the program ends."""
import time


def test_hangs(ftp_server, capfd):
    with capfd.disabled():
        print(ftp_server.url, flush=True)
    while True:
        time.sleep(60)
