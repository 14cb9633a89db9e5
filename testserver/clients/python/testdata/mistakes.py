"""Tests with mistakes; interop runs them, and looks at what is printed about each."""


def test_protocol(servers):
    servers("gofer")


def test_fault(ftp_server):
    ftp_server.arm("RETR", 1, {"fault": "Trunkate"})


def test_unused_fault(ftp_server):
    ftp_server.arm("RETR", 1, {"fault": "Truncate", "n": 2})


def test_port(servers, ftp_server):
    servers("ftp", port=ftp_server.port)
