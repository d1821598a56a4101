import { type CallerConnection, SrtCaller } from '../../media/srt/caller.ts';
import { CONTROL, readPacket } from '../../media/srt/packet.ts';
import { SrtReceiver } from '../../media/srt/receiver.ts';
import { describeRejection } from '../../media/srt/reject-reason.ts';
import { type DatagramPath, openDatagramPath } from '../../shared/network/datagram-path.ts';
import { readSrtOptions } from '../../shared/network/srt-options.ts';
import type { TransportStats } from '../../shared/network/transport-stats.ts';
import { transportStats } from '../srt/transport-stats.ts';
import { PullError, type PullEvents, type PullInput, type TargetRules } from './pull-input.ts';
import { checkTarget } from './pull-target.ts';

const tickMs = 10;
const answerTimeoutMs = 5_000;
/** Senders that have nothing to send still send a keepalive each second. */
const peerTimeoutMs = 5_000;

/** Calls a source that listens. @throws PullError */
export async function openSrtSource(
  url: URL,
  rules: TargetRules,
  events: PullEvents,
  signal: AbortSignal,
): Promise<PullInput> {
  const addresses = await checkTarget(url.hostname, rules);
  const families = [6, 4].map(family => addresses.find(each => each.family === family)?.address);
  let problem = '';
  // A server may have no way to addresses of one family.
  for (const address of families.filter(each => each !== undefined)) {
    signal.throwIfAborted();
    const source = new SrtSource(url, address, await openDatagramPath(address, Number(url.port)), events);
    const end = () => source.stop();
    signal.addEventListener('abort', end, { once: true });
    if (await source.connected) {
      signal.removeEventListener('abort', end);
      return source;
    }
    signal.removeEventListener('abort', end);
    problem = await source.ended;
  }
  throw new PullError(problem);
}

class SrtSource implements PullInput {
  readonly remoteAddress: string;
  readonly #url: URL;
  readonly #path: DatagramPath;
  readonly #events: PullEvents;
  readonly #caller: SrtCaller;
  readonly #ended = Promise.withResolvers<string>();
  readonly #connected = Promise.withResolvers<boolean>();
  readonly #timer: NodeJS.Timeout;
  #receiver: SrtReceiver | undefined;
  #heardAtMs = performance.now();

  /** @param path owned by the source */
  constructor(url: URL, address: string, path: DatagramPath, events: PullEvents) {
    this.#url = url;
    this.remoteAddress = address;
    this.#path = path;
    this.#events = events;
    const { streamId = '', latencyMs, encryption } = readSrtOptions(url);
    this.#caller = new SrtCaller({
      streamId,
      latencyMs,
      encryption,
      send: packet => path.send(packet),
      connected: connection => this.#connect(connection),
      rejected: reason => this.#end(describeRefusal(reason)),
    });
    path.receive(
      datagram => this.#receive(datagram),
      () => this.#end('The connection to the source was lost.'),
    );
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** False when the source did not accept the call. */
  get connected(): Promise<boolean> {
    return this.#connected.promise;
  }

  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  transport(): TransportStats {
    return transportStats(this.#receiver);
  }

  async stop(): Promise<void> {
    this.#receiver?.shutdown();
    this.#end('');
  }

  #connect({ peerSocketId, peerInitialSequence, receiveLatencyMs, cipher }: CallerConnection): void {
    const passphrase = readSrtOptions(this.#url).encryption?.passphrase;
    this.#receiver = new SrtReceiver({
      peerSocketId,
      initialSequence: peerInitialSequence,
      latencyMs: receiveLatencyMs,
      encryption: cipher === undefined || passphrase === undefined ? undefined : { cipher, passphrase },
      send: packet => this.#path.send(packet),
      payload: payload => this.#events.bytes(payload),
      nowMs: () => performance.now(),
    });
    this.#connected.resolve(true);
  }

  #receive(datagram: Buffer): void {
    const packet = readPacket(datagram);
    if (packet?.destination !== this.#caller.socketId) return;
    const receiver = this.#receiver;
    if (packet.kind === 'data') receiver?.data(packet);
    else if (receiver === undefined) this.#caller.receive(packet);
    else if (packet.type === CONTROL.shutdown) {
      receiver.finish();
      this.#end('The source has ended.');
    } else receiver.control(packet);
    this.#heardAtMs = performance.now();
  }

  #tick(): void {
    const nowMs = performance.now();
    const { host } = this.#url;
    if (this.#receiver === undefined) this.#caller.tick(nowMs);
    else this.#receiver.tick();
    const silentMs = nowMs - this.#heardAtMs;
    if (this.#receiver === undefined && silentMs >= answerTimeoutMs) {
      this.#end(
        `${host} did not respond over SRT. Check the address, and that the source is on and in listener mode.`,
      );
    } else if (silentMs >= peerTimeoutMs) this.#end('The connection to the source was lost.');
  }

  #end(reason: string): void {
    clearInterval(this.#timer);
    this.#path.close();
    this.#ended.resolve(reason);
    this.#connected.resolve(false);
  }
}

function describeRefusal(reason: number | undefined): string {
  if (reason === undefined) return 'The source does not speak SRT in live mode. Check the address.';
  const why = describeRejection(reason);
  return `The source refused the connection: ${why}. Check its address, stream ID and passphrase.`;
}
