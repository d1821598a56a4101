import { createServer, type Server, type Socket } from 'node:net';
import { LoopbackServer } from './loopback-server.ts';
import { PullError, type TargetRules } from './pull-input.ts';
import { connectSource } from './pull-target.ts';
import { RtspCredentials } from './rtsp-credentials.ts';
import { headerOf, type RtspMessage, RtspReader, writeRtspText } from './rtsp-messages.ts';
import { SenderReports } from './sender-reports.ts';

type RtspText = Extract<RtspMessage, { kind: 'text' }>;

const maxPending = 16;
/** Two of 256 channels each. */
const maxTracks = 128;
/** A child that is ended may still be connected when the next one starts. */
const maxConnections = 4;
const maxFirstLineBytes = 1024;
const firstLineTimeoutMs = 10_000;

/**
 * The only way of an ffmpeg child to an RTSP source. Connects to checked addresses only, does not pass redirects on, and
 * adds user and password, which ffmpeg never gets.
 */
export class RtspRelay {
  readonly #source: URL;
  readonly #rules: TargetRules;
  readonly #described: (sdp: string) => void;
  readonly #server: LoopbackServer;
  /** Problem of the last response that failed. */
  problem: string | undefined;
  remoteAddress = '';

  constructor(source: URL, rules: TargetRules, described: (sdp: string) => void) {
    this.#source = source;
    this.#rules = rules;
    this.#described = described;
    this.#server = new LoopbackServer(
      createServer(socket => void this.#relay(socket)),
      maxConnections,
    );
  }

  /** Listens for children without a sandbox. @returns the address */
  async start(): Promise<string> {
    await this.#server.start();
    return this.address;
  }

  /** Accepts the connections of a child in its sandbox. */
  adopt(listener: Server): void {
    this.#server.adopt(listener);
  }

  /** The address for ffmpeg. */
  get address(): string {
    return `${this.#localBase}/`;
  }

  get #localBase(): string {
    return `rtsp://${this.#server.host}/${this.#server.secret}`;
  }

  close(): void {
    this.#server.close();
  }

  async #relay(client: Socket): Promise<void> {
    const localBase = this.#localBase;
    try {
      if (!(await this.#isChild(client))) {
        client.destroy();
        return;
      }
      const upstream = await connectSource(this.#source, this.#rules, this.#server.closing);
      this.remoteAddress = upstream.remoteAddress ?? '';
      this.#server.own(upstream);
      client.once('close', () => upstream.destroy());
      upstream.once('close', () => client.destroy());
      const connection = new RelayedConnection(this.#source, localBase, {
        toSource: bytes => upstream.write(bytes),
        toClient: bytes => {
          if (!client.write(bytes)) upstream.pause();
        },
        described: this.#described,
        failed: problem => {
          this.problem = problem;
        },
      });
      client.on('drain', () => upstream.resume());
      this.#pipe(client, upstream, bytes => connection.fromClient(bytes));
      client.resume();
      this.#pipe(upstream, client, bytes => connection.fromSource(bytes));
    } catch (error) {
      this.problem = error instanceof PullError ? error.message : 'The source could not be reached.';
      client.destroy();
    }
  }

  /** Reads the first line, which has the secret, and leaves it to be read again. */
  async #isChild(client: Socket): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let read = Buffer.alloc(0);
    const collect = (bytes: Buffer) => {
      read = Buffer.concat([read, bytes]);
      if (read.includes('\n') || read.length > maxFirstLineBytes) resolve();
    };
    const end = () => resolve();
    const timer = setTimeout(end, firstLineTimeoutMs);
    client.on('data', collect).once('close', end);
    await promise;
    clearTimeout(timer);
    client.pause().off('data', collect).off('close', end);
    const [, secret = ''] = /^[A-Z_]+ rtsp:\/\/[^/\s]+\/([0-9a-f]+)[/ ]/.exec(read.toString('latin1')) ?? [];
    if (!this.#server.isSecret(secret) || !(await this.#server.isOfOurUser(client))) return false;
    client.unshift(read);
    return true;
  }

  #pipe(from: Socket, to: Socket, handle: (bytes: Buffer) => void): void {
    from.on('data', (bytes: Buffer) => {
      try {
        handle(bytes);
      } catch (error) {
        this.problem = error instanceof PullError ? error.message : 'The source does not speak RTSP.';
        from.destroy();
        to.destroy();
      }
    });
  }
}

interface RelayedEvents {
  toSource(bytes: Buffer): void;
  toClient(bytes: Buffer): void;
  described(sdp: string): void;
  failed(problem: string): void;
}

class RelayedConnection {
  readonly #source: URL;
  readonly #sourceBase: string;
  readonly #localBase: string;
  readonly #events: RelayedEvents;
  readonly #reports = new SenderReports();
  readonly #credentials: RtspCredentials;
  readonly #requests = new RtspReader(message => this.#request(message));
  readonly #responses = new RtspReader(message => this.#response(message));
  /** Requests by CSeq, until they are answered. */
  readonly #pending = new Map<string, { readonly request: RtspText; readonly isRetry: boolean }>();
  /** Address of each track, as ffmpeg knows it. */
  readonly #tracks: string[] = [];

  constructor(source: URL, localBase: string, events: RelayedEvents) {
    this.#source = source;
    this.#sourceBase = `${source.protocol}//${source.host}`;
    this.#localBase = localBase;
    this.#events = events;
    this.#credentials = new RtspCredentials(source);
  }

  fromClient(bytes: Buffer): void {
    this.#requests.push(bytes);
  }

  fromSource(bytes: Buffer): void {
    this.#responses.push(bytes);
  }

  #request(message: RtspMessage): void {
    if (message.kind === 'media') {
      this.#events.toSource(message.bytes);
      return;
    }
    const [method, address = ''] = message.firstLine.split(' ');
    if (method === 'SETUP' && this.#tracks.length < maxTracks) this.#tracks.push(address);
    this.#send(message, false);
  }

  #send(request: RtspText, isRetry: boolean): void {
    const [method = '', address = '', version = ''] = request.firstLine.split(' ');
    const uri = this.#sourceUri(address);
    const headers = request.headers.filter(header => !/^authorization:/i.test(header));
    const authorization = this.#credentials.authorize(method, uri);
    if (authorization !== undefined) headers.push(`Authorization: ${authorization}`);
    if (this.#pending.size >= maxPending) this.#pending.clear();
    this.#pending.set(headerOf(headers, 'cseq') ?? '', { request, isRetry });
    this.#events.toSource(writeRtspText(`${method} ${uri} ${version}`, headers, request.body));
  }

  /** ffmpeg asks for the root of the relay. */
  #sourceUri(address: string): string {
    if (!address.startsWith(this.#localBase)) return address;
    const rest = address.slice(this.#localBase.length).replace(/^\//, '');
    const { pathname, search } = this.#source;
    const base = `${this.#sourceBase}${pathname}${search}`;
    return rest === '' ? base : `${base.replace(/\/$/, '')}/${rest}`;
  }

  #response(message: RtspMessage): void {
    if (message.kind === 'media') {
      this.#reports.correct(message.bytes);
      this.#events.toClient(message.bytes);
      return;
    }
    const { firstLine, headers, body } = message;
    const found = /^RTSP\/1\.\d (\d{3})(?: .*)?$/.exec(firstLine);
    if (found === null) {
      // ffmpeg ignores requests of servers, and must not see what it would take for a redirect.
      if (/^\s*RTSP/i.test(firstLine)) throw new PullError('The source does not speak RTSP 1.0.');
      return;
    }
    const status = Number(found[1]);
    const sequence = headerOf(headers, 'cseq') ?? '';
    const pending = this.#pending.get(sequence);
    this.#pending.delete(sequence);
    if (status === 401 && pending !== undefined && !pending.isRetry && this.#acceptsChallenge(headers)) {
      this.#send(pending.request, true);
      return;
    }
    if (status >= 300 && status < 400) {
      throw new PullError(
        'The source redirects to another address, and RTSP redirects are not followed. Enter that address instead.',
      );
    }
    if (status >= 400) this.#events.failed(describeStatus(status));
    if (status === 200 && /application\/sdp/i.test(headerOf(headers, 'content-type') ?? '')) {
      const sdp = body.toString('latin1');
      this.#reports.describe(sdp);
      this.#events.described(sdp);
    }
    if (status === 200) this.#readStarts(headerOf(headers, 'rtp-info') ?? '');
    const passed = headers.filter(header => !/^location:/i.test(header));
    this.#events.toClient(writeRtspText(`RTSP/1.0 ${status} -`, passed, body));
  }

  /** RFC 2326, 12.33. ffmpeg ignores addresses that it does not know, and a timestamp of 0. */
  #readStarts(info: string): void {
    for (const entry of info.split(',')) {
      const track = this.#tracks.indexOf(/\burl=([^;\s]+)/.exec(entry)?.[1] ?? '');
      const timestamp = Number(/\brtptime=(\d{1,10})\b/.exec(entry)?.[1] ?? 0);
      if (track !== -1 && timestamp !== 0) this.#reports.start(track, timestamp);
    }
  }

  #acceptsChallenge(headers: readonly string[]): boolean {
    const challenges = headers
      .filter(header => /^www-authenticate:/i.test(header))
      .map(header => header.slice('www-authenticate:'.length).trim());
    return !this.#credentials.isEmpty && this.#credentials.accept(challenges);
  }
}

function describeStatus(status: number): string {
  if (status === 401 || status === 403) {
    return 'The source refused the user name or password. Check them in the address: rtsp://user:password@host/path.';
  }
  if (status === 404 || status === 454) return 'The source has no stream at this path. Check the address.';
  if (status === 461) {
    return 'The source sends its media over UDP only. This server does not receive that: anybody could send media to such a port, and firewalls mostly drop it. Turn on RTP over RTSP (TCP) in the source.';
  }
  return `The source responded with RTSP status ${status}.`;
}
