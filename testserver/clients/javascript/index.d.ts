// The types of openapi.yaml that a test uses. The program checks the other properties.

/** A text, bytes, or a text or bytes with a modification time (RFC 3339). */
export type File = string | Uint8Array | {
  lines?: string[];
  text?: string;
  repeat?: number;
  latin1?: string;
  octets?: string;
  size?: number;
  modified?: string;
};

export interface Fault {
  /** Such as "Reply", "Truncate" or "Delay"; GET /v1/protocols lists all. */
  fault: string;
  n?: number;
  /** A duration such as "1.5s". */
  d?: string;
  field?: string;
  text?: string;
  repeat?: number;
  lines?: string[];
  latin1?: string;
  octets?: string;
  seed?: number;
}

export interface User {
  password?: string;
  account?: string;
  rights?: ('read' | 'list' | 'write' | 'delete')[];
  files?: Record<string, File>;
  folder?: string;
}

export type Protocol =
  'cso' | 'ftp' | 'gopher' | 'http' | 'nntp' | 'prospero' | 'smtp' | 'telnet' | 'wais';

export interface Settings {
  personality?: string;
  port?: number;
  tls?: 'none' | 'explicit' | 'implicit';
  hosts?: string[];
  files?: Record<string, File>;
  folder?: string;
  users?: Record<string, User>;
  forbidden?: string[];
  maxUpload?: number;
  maxConns?: number;
  oneClient?: boolean;
  idleTimeout?: string;
  faults?: { stage: string; n?: number; faults: Fault[] }[];
  /** The fields of the protocol's Server in Go, such as { readOnly: true }. */
  settings?: Record<string, unknown>;
}

export interface Server extends AsyncDisposable {
  readonly control: Control;
  readonly id: string;
  readonly protocol: Protocol;
  readonly personality?: string;
  /** Without a slash at the end. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly dataPorts?: number[];
  /** The certificate to trust, in PEM. */
  readonly ca?: string;

  /** Stores a file; missing directories are created. */
  put(name: string, content: string | Uint8Array, modified?: Date): Promise<void>;
  /** Resolves to the bytes of a file as clients see it now. */
  get(name: string, user?: string): Promise<Buffer>;
  /** Resolves to the bytes of the files that clients stored, by name. */
  uploads(user?: string): Promise<Record<string, Buffer>>;
  /** Arms faults for the n-th occurrence of the stage from now on; 0 means each. */
  arm(stage: string, n: number, ...faults: Fault[]): Promise<void>;
  /** Disarms all faults. */
  clear(): Promise<void>;
  /** Undoes what clients changed, and deletes the transcript. */
  reset(): Promise<void>;
  /** Resolves when no connection is open: the transcript and the uploads are complete. */
  wait(timeout?: string): Promise<void>;
  /** Resolves to what went over the control connections, in lines such as "C: USER lab". */
  transcript(): Promise<string>;
  /** Ends the server. It is an error if an armed fault has not acted. */
  close(): Promise<void>;
  /** Sends a request below /v1/servers/{id}; see Control.send. */
  send(method: string, path?: string, body?: unknown, accept?: string): Promise<any>;
}

/** A program with servers, which end with close or with this process. */
export class Control implements AsyncDisposable {
  /** Starts a program, by default that of findProgram; args are options of "fetch1738 serve". */
  static start(program?: string, ...args: string[]): Promise<Control>;
  readonly url: string;
  readonly token: string;
  start(protocol: Protocol, settings?: Settings): Promise<Server>;
  /** Sends a request of openapi.yaml. Bytes in a JSON body become {"octets": base64}. It resolves
   *  to what a JSON response has, and to a Buffer for others. */
  send(method: string, path: string, body?: unknown, accept?: string): Promise<any>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The path of the program: the environment variable FETCH1738, bin/fetch1738 of this package, or
 *  fetch1738 in PATH. */
export function findProgram(): string | undefined;

/** Starts a server of the program that all tests of this process share. */
export function startServer(protocol: Protocol, settings?: Settings): Promise<Server>;
export function ftpServer(settings?: Settings): Promise<Server>;

/** Returns a function for test of node:test. The servers that the callback starts end with the
 *  test; the text of a failure has their transcripts. Without the program, the test is skipped. */
export function withServers<T extends { skip(message?: string): void }>(
  test: (start: (protocol: Protocol, settings?: Settings) => Promise<Server>, t: T) => unknown,
): (t: T) => Promise<void>;
