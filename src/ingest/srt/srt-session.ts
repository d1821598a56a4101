import { type Handshake, writeExtensions, writeHandshake } from '../../media/srt/handshake.ts';
import { CONTROL, type ControlPacket, type DataPacket, writeControl } from '../../media/srt/packet.ts';
import { windowPackets } from '../../media/srt/receive-buffer.ts';
import { SrtReceiver } from '../../media/srt/receiver.ts';
import { REJECT, type RejectReason, rejectionType } from '../../media/srt/reject-reason.ts';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';
import type { IngestObserver } from '../ingest-observer.ts';
import { Publication } from '../publication.ts';
import type { PublisherCloseReason, PublisherEndReason, PublishGate } from '../publish-gate.ts';
import { TsPublisher } from '../ts-publisher.ts';
import { agreeOnTerms, type HandshakeTerms, type OwnTerms, type SrtRefusal } from './handshake-terms.ts';
import { transportStats } from './transport-stats.ts';

export interface SessionSettings extends OwnTerms {
  /** Ends a publisher that sends nothing for this long. */
  readonly idleTimeoutMs: number;
  readonly gate: PublishGate;
  readonly observer: IngestObserver;
  readonly log: Logger;
}

interface SessionOptions extends SessionSettings {
  readonly connectionId: string;
  readonly socketId: number;
  readonly remoteAddress: string;
  readonly peer: { readonly address: string; readonly port: number };
  readonly request: Handshake;
  readonly send: (datagram: Buffer) => void;
  readonly isDraining: () => boolean;
  /** Called once, after the last repetition of the handshake can have arrived. */
  readonly forgotten: () => void;
}

/** Callers repeat their handshake for this long and get the same answer. */
const endedKeptMs = 3_000;
/** Callers that wait for the answer repeat their handshake, usually every 250 ms. */
const maxUnrepeatedMs = 5_000;

/** Rejection codes by the reasons of the gate. */
const gateCodes: Readonly<Record<string, RejectReason>> = {
  // OBS stops, and asks for the stream key to be checked. Other reasons it does not show, and tries again for ever.
  'unknown-key': REJECT.badSecret,
  'account-suspended': REJECT.forbidden,
  'account-not-upgraded': REJECT.forbidden,
  'already-publishing': REJECT.conflict,
  'broadcast-ended': REJECT.forbidden,
  'too-many-attempts': REJECT.overload,
  'too-many-encoders': REJECT.overload,
  'hook-failed': REJECT.down,
  draining: REJECT.down,
};

/** One publisher in caller mode: its handshake, then its media. */
export class SrtSession {
  readonly socketId: number;
  readonly #options: SessionOptions;
  #streamKey = '';
  #answer: Buffer | undefined;
  #receiver: SrtReceiver | undefined;
  #publication: Publication | undefined;
  readonly #publisher = new TsPublisher({
    media: event => this.#publication?.media(event),
    refused: description => this.#endPublication(description),
  });
  #closeReason: PublisherCloseReason | undefined;
  #closedAtMs = 0;
  #heardAtMs = performance.now();
  #bytesIn = 0;
  #counted = { bytes: 0, stats: transportStats(undefined) };

  constructor(options: SessionOptions) {
    this.#options = options;
    this.socketId = options.socketId;
    options.observer.connectionOpened();
  }

  /** Never rejects. */
  async open(): Promise<void> {
    try {
      const refusal = await this.#admit();
      if (refusal !== undefined) this.#refuse(refusal);
    } catch (error) {
      this.#options.log.error('gate-failed', { error });
      const description = 'An internal error stopped the server from accepting the stream.';
      this.#refuse({ code: REJECT.internal, reason: 'gate-failed', description });
    }
  }

  /** Repeats the answer for a caller that did not get it. */
  repeatAnswer(): void {
    this.#heardAtMs = performance.now();
    if (this.#answer !== undefined) this.#options.send(this.#answer);
  }

  isOf(address: string, port: number): boolean {
    return port === this.#options.peer.port && address === this.#options.peer.address;
  }

  /** Never throws. */
  receive(packet: DataPacket | ControlPacket, bytes: number): void {
    const receiver = this.#receiver;
    if (receiver === undefined || this.#closeReason !== undefined) return;
    this.#heardAtMs = performance.now();
    this.#bytesIn += bytes;
    if (packet.kind === 'data') receiver.data(packet);
    else if (packet.type === CONTROL.shutdown) this.#close('unpublished');
    else receiver.control(packet);
  }

  tick(): void {
    const nowMs = performance.now();
    if (this.#closeReason !== undefined) {
      if (nowMs - this.#closedAtMs >= endedKeptMs) this.#options.forgotten();
      return;
    }
    this.#receiver?.tick();
    this.#publish(() => this.#publisher.tick());
    this.#count();
    const silentMs = nowMs - this.#heardAtMs;
    if (this.#receiver === undefined) {
      if (silentMs >= maxUnrepeatedMs) this.end('connection-closed');
    } else if (silentMs >= this.#options.idleTimeoutMs) this.end('idle-timeout');
  }

  end(reason: PublisherCloseReason): void {
    if (this.#closeReason !== undefined) return;
    if (this.#receiver === undefined) {
      this.#reject(REJECT.down);
    } else {
      this.#receiver.shutdown();
    }
    this.#close(reason);
  }

  async #admit(): Promise<SrtRefusal | undefined> {
    const { connectionId, remoteAddress, request, gate, isDraining } = this.#options;
    if (isDraining()) {
      const description = 'The server is restarting. Reconnect in a moment.';
      return { code: REJECT.down, reason: 'server-draining', description };
    }
    const terms = await agreeOnTerms(request, this.#options);
    if ('refusal' in terms) return terms.refusal;
    // The caller has left while the key was derived.
    if (this.#closeReason !== undefined) return undefined;
    const { streamKey, query, latencyMs, encryption } = terms;
    this.#streamKey = streamKey;
    const { observer, log } = this.#options;
    const session = this;
    const publication = new Publication({
      request: { connectionId, protocol: 'srt', remoteAddress, streamKey, query, encoder: '' },
      gate,
      observer,
      log,
      logData: { latencyMs, isEncrypted: encryption !== undefined },
      connection: {
        get bytesIn() {
          return session.#bytesIn;
        },
        end: (text, reason) => this.#endPublication(text, reason),
        failed: () => this.end('ended-by-server'),
        transport: () => transportStats(this.#receiver),
        totals: () => ({ ...this.#receiver?.stats }),
      },
    });
    this.#publication = publication;
    const refusal = await publication.open();
    if (refusal !== undefined) {
      this.#reject(gateCodes[refusal.reason] ?? REJECT.forbidden);
      this.#close('ended-by-server');
    } else if (this.#closeReason === undefined) this.#accept(terms);
    return undefined;
  }

  #accept(terms: HandshakeTerms): void {
    const { request, socketId, send } = this.#options;
    const { latencyMs, encryption, keyMessage } = terms;
    this.#heardAtMs = performance.now();
    this.#receiver = new SrtReceiver({
      latencyMs,
      encryption,
      send,
      initialSequence: request.initialSequence,
      peerSocketId: request.socketId,
      payload: payload => this.#publish(() => this.#publisher.push(payload)),
      nowMs: () => performance.now(),
    });
    // The other direction carries no media: whatever the caller asks for is granted.
    const extensions = {
      receiverLatencyMs: latencyMs,
      senderLatencyMs: latencyMs,
      streamId: undefined,
      keyMessage,
    };
    this.#send({
      ...request,
      socketId,
      encryption: 0,
      flowWindow: windowPackets,
      cookie: 0,
      ...writeExtensions(extensions, 'response'),
    });
  }

  #publish(media: () => void): void {
    try {
      media();
    } catch (error) {
      this.#options.log.error('sink-failed', { error });
      this.end('ended-by-server');
    }
  }

  #refuse({ code, reason, description }: SrtRefusal): void {
    if (this.#closeReason !== undefined) return;
    this.#options.observer.refused(reason);
    this.#options.log.warn('publish-refused', { ...this.#logFields, reason, description, code });
    this.#reject(code);
    this.#close('ended-by-server');
  }

  #reject(code: RejectReason): void {
    const { request } = this.#options;
    const type = rejectionType(code);
    this.#send({ ...request, type, encryption: 0, extensionField: 0, extensions: Buffer.alloc(0) });
  }

  #send(answer: Handshake): void {
    const { request, send } = this.#options;
    const body = writeHandshake(answer);
    const destination = request.socketId;
    this.#answer = writeControl({ type: CONTROL.handshake, timestampUs: 0, destination, body });
    send(this.#answer);
  }

  /** SRT ends without a reason: it is in the log, and where it is an alarm, in the dashboard. */
  #endPublication(description: string, reason: PublisherEndReason = 'ended-by-server'): void {
    if (this.#closeReason !== undefined) return;
    this.#options.log.warn('publisher-refused', { ...this.#logFields, description });
    this.end(reason);
  }

  #close(reason: PublisherCloseReason): void {
    if (this.#closeReason !== undefined) return;
    if (reason === 'unpublished' || reason === 'idle-timeout') this.#finish();
    // Media that cannot be used ends the session for another reason.
    if (this.#closeReason !== undefined) return;
    this.#count();
    this.#closeReason = reason;
    this.#closedAtMs = performance.now();
    this.#options.observer.connectionClosed(reason);
    this.#publication?.end(reason);
  }

  #finish(): void {
    try {
      this.#receiver?.finish();
      this.#publisher.flush();
    } catch (error) {
      this.#options.log.error('sink-failed', { error });
    }
  }

  /** A counter costs too much for each packet. */
  #count(): void {
    const { observer } = this.#options;
    const { bytes, stats: last } = this.#counted;
    const stats = transportStats(this.#receiver);
    if (this.#bytesIn === bytes) return;
    this.#counted = { bytes: this.#bytesIn, stats };
    observer.bytesIn(this.#bytesIn - bytes);
    observer.packets(
      stats.packetsReceived - last.packetsReceived,
      stats.packetsLost - last.packetsLost,
      stats.packetsRecovered - last.packetsRecovered,
    );
  }

  get #logFields(): Record<string, unknown> {
    return { streamKey: maskStreamKey(this.#streamKey) };
  }
}
