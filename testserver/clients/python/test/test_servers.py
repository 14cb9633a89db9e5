"""Every method of the client, at real servers."""
import ftplib
import io
import ssl
import urllib.request

import pytest
from fetch1738_testserver import Control


def download(server, name, user="", password=""):
    received = io.BytesIO()
    with ftplib.FTP() as ftp:
        ftp.connect(server.host, server.port)
        ftp.login(user, password)
        ftp.retrbinary("RETR " + name, received.write)
    return received.getvalue()


def test_files(ftp_server):
    ftp_server.put("a b/100%.txt", "text\n", modified="1995-03-04T05:06:07Z")
    ftp_server.put("a b/octets", bytes(range(256)))
    assert download(ftp_server, "a b/100%.txt") == b"text\n"
    assert download(ftp_server, "a b/octets") == ftp_server.get("a b/octets") == bytes(range(256))
    with ftplib.FTP() as ftp:
        ftp.connect(ftp_server.host, ftp_server.port)
        ftp.login()
        assert ftp.sendcmd("MDTM a b/100%.txt") == "213 19950304050607"
    ftp_server.put("empty", "")
    assert ftp_server.get("empty") == b""


def test_settings(servers):
    users = {"lab": {"password": "secret", "files": {"own": b"\xff"}}}
    server = servers("ftp", users=users, settings={"hide": ["EPSV"]})
    assert download(server, "own", "lab", "secret") == b"\xff" == server.get("own", user="lab")
    server.wait()
    assert "C: PASV\n" in server.transcript()


def test_uploads_of_a_user(servers):
    server = servers("ftp", users={"lab": {"files": {"own": "1"}}})
    with ftplib.FTP() as ftp:
        ftp.connect(server.host, server.port)
        ftp.login("lab")
        ftp.storbinary("STOR a b", io.BytesIO(b"\x00"))
    assert server.uploads("lab") == {"a b": b"\x00"}
    server.reset()
    assert server.uploads("lab") == {}
    assert server.transcript() == ""


def test_faults(ftp_server):
    ftp_server.put("a", "hello\n")
    ftp_server.arm("RETR", 0, {"fault": "Truncate", "n": 2}, {"fault": "Reply", "text": "426 no"})
    for _ in range(2):
        with pytest.raises(ftplib.error_temp, match="426 no"):
            download(ftp_server, "a")
    ftp_server.clear()
    assert download(ftp_server, "a") == b"hello\n"


def test_fault_that_does_not_act(fetch1738):
    server = fetch1738.start("ftp")
    server.arm("SIZE", 1, {"fault": "Reply", "text": "550 no"})
    with pytest.raises(ftplib.error_perm):
        download(server, "missing")
    with pytest.raises(AssertionError, match="SIZE") as failure:
        server.close()
    assert "C: RETR missing" in str(failure.value)


def test_errors(fetch1738, ftp_server):
    with pytest.raises(RuntimeError, match="protocol: .*gofer"):
        fetch1738.start("gofer")
    with pytest.raises(RuntimeError, match="missing"):
        ftp_server.get("missing")


def test_tls(servers):
    server = servers("ftp", tls="explicit", files={"a": "1"})
    received = io.BytesIO()
    with ftplib.FTP_TLS(context=ssl.create_default_context(cafile=server.ca_file())) as ftp:
        ftp.connect(server.host, server.port)
        ftp.login()
        ftp.prot_p()
        ftp.retrbinary("RETR a", received.write)
    assert received.getvalue() == b"1"


def test_several_servers(servers):
    first = servers("http", files={"index.html": "first"})
    second = servers("http", files={"index.html": "second"})
    with urllib.request.urlopen(first.url + "/index.html") as response:
        assert response.read() == b"first"
    with urllib.request.urlopen(second.url + "/index.html") as response:
        assert response.read() == b"second"


def test_control_of_its_own():
    with Control() as control:
        assert control.send("GET", "/v1/servers") == {"servers": []}
        server = control.start("ftp", files={"a": "1"})
        assert download(server, "a") == b"1"
    with pytest.raises(RuntimeError, match="no reply from fetch1738 at http://127.0.0.1:"):
        control.send("GET", "/v1/servers")


def test_program_that_is_missing(monkeypatch):
    monkeypatch.delenv("FETCH1738", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BaseException, match="set FETCH1738"):
        Control()
