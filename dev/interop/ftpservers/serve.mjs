// Runs an FTP server of npm for the interop tests:
//
//     node serve.mjs ftp-srv|nodeftpd HOST PORT ROOT [explicit|implicit PEM]
//
// PEM has the certificate and its key. The account is lab, with the password secret; anonymous may
// log in too.

import {readFileSync} from 'node:fs';
import ftpSrv from 'ftp-srv';
import nodeftpd from 'ftpd';

const [kind, host, port, root, mode, pem] = process.argv.slice(2);
const tls = pem && {cert: readFileSync(pem), key: readFileSync(pem)};
const admits = (user, password) => user === 'anonymous' || (user === 'lab' && password === 'secret');
// Each process has ports of its own, below those of servers (see package daemon): ftp-srv does not
// notice if another process takes a port first. A server that leaks ports uses them up.
const from = 2000 + (port % 20) * 400;
const passive = {from, to: from + 399};

const kinds = {
  'ftp-srv': () => {
    const address = host.includes(':') ? `[${host}]` : host;
    const server = new ftpSrv({
      url: `${mode === 'implicit' ? 'ftps' : 'ftp'}://${address}:${port}`, anonymous: false, tls: tls ?? false,
      pasv_url: host, pasv_min: passive.from, pasv_max: passive.to,
      // Its default logger writes to standard output.
      log: Object.assign(['trace', 'debug', 'info', 'warn', 'error'].reduce((l, level) => ({...l, [level]: () => {}}), {}), {child() { return this; }}),
    });
    server.on('login', ({username, password}, resolve, reject) =>
      admits(username, password) ? resolve({root}) : reject(new Error('Bad username or password')));
    server.on('client-error', () => {});
    return server.listen();
  },
  nodeftpd: () => {
    const server = new nodeftpd.FtpServer(host, {
      getInitialCwd: () => '/', getRoot: () => root, tlsOptions: tls, allowUnauthorizedTls: true,
      pasvPortRangeStart: passive.from, pasvPortRangeEnd: passive.to,
    });
    server.on('error', err => { throw err; });
    server.on('client:connected', connection => {
      let name;
      connection.on('command:user', (user, success) => { name = user; success(); });
      connection.on('command:pass', (password, success, failure) => admits(name, password) ? success(name) : failure());
    });
    server.listen(port, host);
  },
};
await kinds[kind]();
