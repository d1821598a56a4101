import { randomInt } from 'node:crypto';
import {
  datagramSocket,
  HANDSHAKE,
  type Handshake,
  readExtensions,
  readHandshake,
  srtMagic,
  writeExtensions,
  writeHandshake,
} from './handshake.ts';
import { newStreamKeys, PayloadCipher, type StreamKeyBytes, writeKeyMessage } from './key-material.ts';
import { CONTROL, type ControlPacket, writeControl } from './packet.ts';
import { windowPackets } from './receive-buffer.ts';
import { REJECT, rejectedWith } from './reject-reason.ts';

interface CallerOptions {
  readonly streamId: string;
  readonly latencyMs: number;
  /** Undefined: not encrypted. */
  readonly encryption: { readonly passphrase: string; readonly keyBytes: StreamKeyBytes } | undefined;
  readonly send: (packet: Buffer) => void;
  readonly connected: (connection: CallerConnection) => void;
  /** @param reason of `REJECT`; undefined when the answer makes no sense */
  readonly rejected: (reason: number | undefined) => void;
}

export interface CallerConnection {
  readonly peerSocketId: number;
  readonly initialSequence: number;
  readonly peerInitialSequence: number;
  /** The larger one of both sides, for each direction. */
  readonly sendLatencyMs: number;
  readonly receiveLatencyMs: number;
  readonly cipher: PayloadCipher | undefined;
}

const noExtensions = Buffer.alloc(0);
const repeatMs = 250;
/**
 * Size of the key state, which replaces the key message when the peer has another passphrase or none (section
 * 3.2.1.2).
 */
const keyStateBytes = 4;

/** The handshake of a caller in live mode, version 5. Call {@link tick} about every 10 ms until it is answered. */
export class SrtCaller {
  readonly socketId = randomInt(1, 2 ** 30);
  readonly #options: CallerOptions;
  readonly #initialSequence = randomInt(0, 2 ** 31 - 1);
  readonly #cipher: PayloadCipher | undefined;
  readonly #keyMessage: Promise<Buffer> | undefined;
  #request: Handshake;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #isDone = false;

  constructor(options: CallerOptions) {
    this.#options = options;
    const { encryption } = options;
    if (encryption !== undefined) {
      const keys = newStreamKeys(encryption.keyBytes);
      this.#cipher = new PayloadCipher(keys);
      this.#keyMessage = writeKeyMessage(keys, encryption.passphrase);
    }
    this.#request = {
      version: 4,
      encryption: 0,
      extensionField: datagramSocket,
      type: HANDSHAKE.induction,
      initialSequence: this.#initialSequence,
      flowWindow: windowPackets,
      socketId: this.socketId,
      cookie: 0,
      extensions: noExtensions,
    };
  }

  /** @param nowMs monotonic */
  tick(nowMs: number): void {
    if (this.#isDone || nowMs - this.#sentAtMs < repeatMs) return;
    this.#sentAtMs = nowMs;
    this.#send();
  }

  #send(): void {
    const body = writeHandshake(this.#request);
    this.#options.send(writeControl({ type: CONTROL.handshake, timestampUs: 0, destination: 0, body }));
  }

  receive({ type, body }: ControlPacket): void {
    const answer = type === CONTROL.handshake ? readHandshake(body) : undefined;
    if (answer === undefined || this.#isDone) return;
    const reason = rejectedWith(answer.type);
    if (reason !== undefined) this.#reject(reason);
    else if (answer.type === HANDSHAKE.induction && this.#request.type === HANDSHAKE.induction) {
      if (answer.version === 5 && answer.extensionField === srtMagic) void this.#conclude(answer);
      else this.#reject(undefined);
    } else if (answer.type === HANDSHAKE.conclusion && this.#request.type === HANDSHAKE.conclusion) {
      this.#connect(answer);
    }
  }

  async #conclude({ cookie }: Handshake): Promise<void> {
    const { streamId, latencyMs, encryption } = this.#options;
    const keyMessage = await this.#keyMessage;
    if (this.#request.type === HANDSHAKE.conclusion) return;
    this.#request = {
      ...this.#request,
      version: 5,
      type: HANDSHAKE.conclusion,
      cookie,
      encryption: (encryption?.keyBytes ?? 0) / 8,
      ...writeExtensions(
        { receiverLatencyMs: latencyMs, senderLatencyMs: latencyMs, streamId, keyMessage },
        'request',
      ),
    };
    this.#send();
  }

  #connect(answer: Handshake): void {
    const extensions = readExtensions(answer, 'response');
    if (typeof extensions === 'string') {
      this.#reject(undefined);
      return;
    }
    if (this.#cipher !== undefined && (extensions.keyMessage?.length ?? 0) <= keyStateBytes) {
      this.#reject(REJECT.badSecret);
      return;
    }
    this.#isDone = true;
    const { latencyMs, connected } = this.#options;
    connected({
      peerSocketId: answer.socketId,
      initialSequence: this.#initialSequence,
      peerInitialSequence: answer.initialSequence,
      sendLatencyMs: Math.max(latencyMs, extensions.receiverLatencyMs),
      receiveLatencyMs: Math.max(latencyMs, extensions.senderLatencyMs),
      cipher: this.#cipher,
    });
  }

  #reject(reason: number | undefined): void {
    this.#isDone = true;
    this.#options.rejected(reason);
  }
}
