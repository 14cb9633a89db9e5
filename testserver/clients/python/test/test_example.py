import ftplib
import io
import pytest

def test_download(servers):
    server = servers("ftp", files={"pub/motd.txt": "hello\n"})
    received = io.BytesIO()
    with ftplib.FTP() as ftp:
        ftp.connect(server.host, server.port)
        ftp.login()
        ftp.retrbinary("RETR pub/motd.txt", received.write)
    assert received.getvalue() == b"hello\n"

def test_missing(ftp_server):
    ftp_server.arm("RETR", 1, {"fault": "Reply", "text": "550 gone"})
    with ftplib.FTP() as ftp, pytest.raises(ftplib.error_perm, match="550 gone"):
        ftp.connect(ftp_server.host, ftp_server.port)
        ftp.login()
        ftp.retrbinary("RETR pub/motd.txt", print)

def test_upload(ftp_server):
    with ftplib.FTP() as ftp:
        ftp.connect(ftp_server.host, ftp_server.port)
        ftp.login()
        ftp.storbinary("STOR report.txt", io.BytesIO(b"done\n"))
    assert ftp_server.uploads() == {"report.txt": b"done\n"}
