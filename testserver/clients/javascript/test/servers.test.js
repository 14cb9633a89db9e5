// Every function of the client, at real servers.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test from 'node:test';
import { Client } from 'basic-ftp';
import { Control, findProgram, ftpServer, startServer, withServers } from 'fetch1738-testserver';

async function session(server, t, options = {}) {
  const client = new Client();
  t.after(() => client.close());
  await client.access({ host: server.host, port: server.port, ...options });
  return client;
}

const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

test('files', withServers(async (start, t) => {
  const server = await start('ftp', { files: { octets: every } });
  assert.deepEqual(await server.get('octets'), every);
  await server.put('a b/100%.txt', 'text\n', new Date('1995-03-04T05:06:07Z'));
  await server.put('a b/octets', every);
  await server.put('empty', '');
  assert.equal(String(await server.get('a b/100%.txt')), 'text\n');
  assert.deepEqual(await server.get('a b/octets'), every);
  assert.equal((await server.get('empty')).length, 0);
  const client = await session(server, t);
  assert.deepEqual(await client.lastMod('a b/100%.txt'), new Date('1995-03-04T05:06:07Z'));
}));

test('uploads of a user', withServers(async (start, t) => {
  const lab = { password: 'secret', files: { own: every } };
  const server = await start('ftp', { users: { lab }, settings: { hide: ['EPSV'] } });
  assert.deepEqual(await server.get('own', 'lab'), every);
  const client = await session(server, t, { user: 'lab', password: 'secret' });
  await client.uploadFrom(Readable.from([every]), 'a b');
  client.close();
  await server.wait();
  assert.deepEqual(await server.uploads('lab'), { 'a b': every });
  assert.match(await server.transcript(), /^C: PASV$/m);
  await server.reset();
  assert.deepEqual(await server.uploads('lab'), {});
  assert.equal(await server.transcript(), '');
}));

test('faults', withServers(async (start, t) => {
  const server = await start('ftp', { files: { a: 'hello\n' } });
  await server.arm('SIZE', 0, { fault: 'Reply', text: '550 no' });
  const client = await session(server, t);
  for (let i = 0; i < 2; i++) await assert.rejects(client.size('a'), /550 no/);
  await server.clear();
  assert.equal(await client.size('a'), 6);
}));

test('a fault that does not act', withServers(async (start, t) => {
  const server = await start('ftp');
  await server.arm('RETR', 1, { fault: 'Truncate', n: 2 });
  const client = await session(server, t);
  await client.pwd();
  await assert.rejects(server.close(), /never used: .*RETR.*\n(.*\n)*C: PWD\n/);
}));

test('errors', withServers(async (start) => {
  await assert.rejects(start('gofer'), /protocol: .*gofer/);
  const server = await start('ftp');
  await assert.rejects(server.get('missing'), /missing/);
}));

test('TLS', withServers(async (start, t) => {
  const server = await start('ftp', { tls: 'explicit' });
  await session(server, t, { secure: true, secureOptions: { ca: server.ca } });
  assert.match(await server.transcript(), /^C: AUTH TLS$/m);
}));

test('several servers', withServers(async (start) => {
  const servers = [];
  for (const text of ['1', '2']) servers.push(await start('http', { files: { a: text } }));
  const texts = servers.map(async (server) => (await fetch(server.url + '/a')).text());
  assert.deepEqual(await Promise.all(texts), ['1', '2']);
}));

test('without withServers', { skip: !findProgram() }, async (t) => {
  const server = await ftpServer();
  t.after(() => server.close());
  const gopher = await startServer('gopher', { files: { a: '1' } });
  await gopher[Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]();
  await assert.rejects(gopher.get('a'), /gopher/);
});

test('a program of its own', { skip: !findProgram() }, async () => {
  const control = await Control.start();
  assert.deepEqual(await control.send('GET', '/v1/servers'), { servers: [] });
  await control.start('ftp');
  await control.close();
  await assert.rejects(control.send('GET', '/v1/servers'), /^Error: no reply from fetch1738 at http:/);
  await control.close();
});

test('a program that does not start', async () => {
  const message = (why) => ({ message: `cannot start ${why}; set FETCH1738 to the program fetch1738` });
  await assert.rejects(Control.start('/missing'), message('/missing serve: there is no such file'));
  await assert.rejects(Control.start('false'), message('false serve: it ended with exit code 1'));
});

test('a failure has the transcript', async (t) => {
  if (!findProgram()) return;
  const failing = withServers(async (start) => {
    await session(await start('ftp'), t);
    assert.equal(1, 2);
  });
  await assert.rejects(failing({}), (error) => {
    assert.match(error.message, /1 !== 2\n+transcript of ftp:/);
    assert.match(error.stack, /transcript of ftp:[^]*\n +at /);
    return true;
  });
});
