// Test servers of ftp, gopher, http, nntp and others for node:test; see README.md and index.d.ts.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const asyncDispose = Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose'); // since Node 18.18

export function findProgram() {
  if (process.env.FETCH1738) return process.env.FETCH1738;
  const name = process.platform === 'win32' ? 'fetch1738.exe' : 'fetch1738';
  const own = fileURLToPath(new URL('bin', import.meta.url));
  const folders = [own, ...(process.env.PATH ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, name)).find(existsSync);
}

export class Control {
  servers = new Set();

  static async start(program = findProgram(), ...args) {
    if (!program) throw new Error('fetch1738 is not in PATH; set FETCH1738 to the program');
    const command = ['serve', '--control', '127.0.0.1:0', '--until-eof', ...args];
    // The program ends with its standard input: kill -9 of the tests leaves no process behind.
    const child = spawn(program, command, { stdio: ['pipe', 'pipe', 'inherit'] });
    const start = await new Promise((resolve, reject) => {
      const fail = (why) => {
        child.stdin.destroy();
        const advice = 'set FETCH1738 to the program fetch1738';
        reject(new Error(`cannot start ${program} serve: ${why}; ${advice}`));
      };
      let text = '';
      child.once('error', ({ code }) => fail(code === 'ENOENT' ? 'there is no such file' : code));
      child.once('close', (code, signal) => fail(`it ended with ${signal ?? `exit code ${code}`}`));
      child.stdout.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        if (!text.includes('\n')) return;
        const line = text.split('\n')[0];
        try { resolve(JSON.parse(line)); } catch { fail(`it printed ${JSON.stringify(line)}`); }
      });
    });
    for (const handle of [child, child.stdin, child.stdout]) handle.unref(); // Node need not wait
    return Object.assign(new Control(), { url: start.control, token: start.token, child });
  }

  async start(protocol, settings = {}) {
    const about = await this.send('POST', '/v1/servers', { protocol, ...settings });
    const server = Object.assign(new Server(), about, { control: this });
    this.servers.add(server);
    return server;
  }

  async send(method, path, body, accept = 'application/json') {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const headers = { Authorization: `Bearer ${this.token}`, Accept: accept };
    headers['Content-Type'] = raw ? 'application/octet-stream' : 'application/json';
    const data = raw || !body ? body : JSON.stringify(body, octets);
    const response = await fetch(this.url + path, { method, headers, body: data }).catch((error) => {
      throw new Error(`no reply from fetch1738 at ${this.url}: ${error.cause?.message ?? error}`);
    });
    if (!response.ok) {
      const problem = await response.json();
      throw new Error(`${problem.field ?? path}: ${problem.detail}`);
    }
    if (response.headers.get('Content-Type') === 'application/json') return response.json();
    return Buffer.from(await response.arrayBuffer());
  }

  async close() {
    const { child } = this;
    child.ref();
    child.stdin.end();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  [asyncDispose]() { return this.close(); }
}

// octets is a replacer for JSON.stringify: bytes become {"octets": base64}.
function octets(key, value) {
  const bytes = this[key]; // value is what its toJSON has made
  return bytes instanceof Uint8Array ? { octets: Buffer.from(bytes).toString('base64') } : value;
}

class Server {
  send(method, path = '', body = undefined, accept = undefined) {
    return this.control.send(method, `/v1/servers/${this.id}${path}`, body, accept);
  }

  async put(name, content, modified) {
    await this.send('PUT', file(name) + query({ modified: modified?.toISOString() }), content);
  }

  get(name, user) { return this.send('GET', file(name) + query({ user })); }

  async uploads(user) {
    const { uploads } = await this.send('GET', '/uploads' + query({ user }));
    const get = async ({ name }) => [name, await this.get(name, user)];
    return Object.fromEntries(await Promise.all(uploads.map(get)));
  }

  async arm(stage, n, ...faults) { await this.send('POST', '/faults', { stage, n, faults }); }
  async clear() { await this.send('DELETE', '/faults'); }
  async reset() { await this.send('POST', '/reset'); }
  async wait(timeout = '10s') { await this.send('POST', `/wait?timeout=${timeout}`); }
  async transcript() { return `${await this.send('GET', '/transcript', undefined, 'text/plain')}`; }

  async close() {
    const transcript = await this.transcript();
    this.control.servers.delete(this);
    const { pending } = await this.send('DELETE');
    if (pending.length === 0) return;
    const advice = 'correct the stage or remove the fault';
    throw new Error(`${this.url}: ${pending.join('; ')}; ${advice}\n${transcript}`.trimEnd());
  }

  [asyncDispose]() { return this.close(); }
}

const file = (name) => '/files/' + name.split('/').map(encodeURIComponent).join('/');
const query = (values) => '?' + new URLSearchParams(Object.entries(values).filter(([, v]) => v));

let shared; // the program that all tests of this process share
export async function startServer(protocol, settings) {
  return (await (shared ??= Control.start())).start(protocol, settings);
}

export const ftpServer = (settings) => startServer('ftp', settings);

export function withServers(test) {
  return async (t) => {
    if (!findProgram()) return t.skip('fetch1738 is not in PATH; set FETCH1738 to the program');
    const servers = [];
    let failure;
    try {
      await test(async (protocol, settings) => {
        servers.push(await startServer(protocol, settings));
        return servers.at(-1);
      }, t);
    } catch (error) {
      failure = await explain(error, servers);
    }
    for (const server of servers.filter((server) => server.control.servers.has(server))) {
      await server.close().catch((error) => { failure ??= error; });
    }
    if (failure instanceof Error) failure.stack = withoutClient(failure.stack);
    if (failure) throw failure;
  };
}

// withoutClient returns a stack without the frames of this module and those of Node that only call
// it: a failure is shown at the line of the test.
function withoutClient(stack) {
  const frames = [import.meta.url, '(node:'];
  const isClient = (line) => line.startsWith('    at ') && frames.some((f) => line.includes(f));
  return stack.split('\n').filter((line) => !isClient(line)).join('\n');
}

// explain adds the transcripts of servers to the text of an error.
async function explain(error, servers) {
  for (const server of error instanceof Error ? servers : []) {
    const text = await server.transcript().catch((none) => `no transcript: ${none.message}`);
    if (!text) continue;
    const message = `${error.message}\n\ntranscript of ${server.url}\n${text}`;
    error.stack = error.stack.replace(error.message, () => message);
    error.message = message;
  }
  return error;
}
