import { type ExtensionProblem, type Handshake, readExtensions } from '../../media/srt/handshake.ts';
import { PayloadCipher, readKeyMessage } from '../../media/srt/key-material.ts';
import { REJECT, type RejectReason } from '../../media/srt/reject-reason.ts';
import { readPublishStreamId } from '../../media/srt/stream-id.ts';

/** SRT carries the code only; the rest is for log and metrics. `reason` is kebab-case. */
export interface SrtRefusal {
  readonly code: RejectReason;
  readonly reason: string;
  readonly description: string;
}

/** Acceptable to both sides, before the stream key is checked. */
export interface HandshakeTerms {
  readonly streamKey: string;
  readonly query: string;
  /** Latency of the media to us. */
  readonly latencyMs: number;
  /** Returned to the caller as its part of the agreement. */
  readonly keyMessage: Buffer | undefined;
  readonly encryption: { readonly cipher: PayloadCipher; readonly passphrase: string } | undefined;
}

export interface OwnTerms {
  readonly latencyMs: number;
  readonly passphrase: string | undefined;
}

const maxLatencyMs = 10_000;

const extensionRefusals: Readonly<Record<ExtensionProblem, SrtRefusal>> = {
  rogue: {
    code: REJECT.rogue,
    reason: 'malformed-handshake',
    description: 'The handshake is malformed or lacks its SRT extension.',
  },
  version: {
    code: REJECT.version,
    reason: 'unsupported-version',
    description: 'The encoder uses SRT before version 1.3. Update it.',
  },
  'message-api': {
    code: REJECT.messageApi,
    reason: 'not-live-mode',
    description: 'The encoder uses SRT in file mode. Set transtype=live.',
  },
};

export async function agreeOnTerms(
  request: Handshake,
  own: OwnTerms,
): Promise<HandshakeTerms | { readonly refusal: SrtRefusal }> {
  if (request.version !== 5) return { refusal: extensionRefusals.version };
  const extensions = readExtensions(request, 'request');
  if (typeof extensions === 'string') return { refusal: extensionRefusals[extensions] };
  const streamId = readPublishStreamId(extensions.streamId);
  if (!streamId.ok) {
    const { reason, description } = streamId;
    return { refusal: { code: reason === 'play' ? REJECT.badMode : REJECT.badSecret, reason, description } };
  }
  const encryption = await agreeOnKeys(extensions.keyMessage, own.passphrase);
  if (encryption !== undefined && 'refusal' in encryption) return encryption;
  return {
    streamKey: streamId.streamKey,
    query: streamId.query,
    latencyMs: Math.min(Math.max(own.latencyMs, extensions.senderLatencyMs), maxLatencyMs),
    keyMessage: extensions.keyMessage,
    encryption,
  };
}

async function agreeOnKeys(
  keyMessage: Buffer | undefined,
  passphrase: string | undefined,
): Promise<HandshakeTerms['encryption'] | { readonly refusal: SrtRefusal }> {
  if (passphrase === undefined && keyMessage === undefined) return undefined;
  if (passphrase === undefined || keyMessage === undefined) {
    const description =
      passphrase === undefined
        ? 'The encoder uses a passphrase, but this server has none. Remove it in your encoder, or ask the operator to set srt.passphrase.'
        : "The passphrase is missing. Enter it in your encoder's settings.";
    return { refusal: { code: REJECT.unsecure, reason: 'passphrase-mismatch', description } };
  }
  const keys = await readKeyMessage(keyMessage, passphrase);
  if (keys === 'malformed') {
    const description = 'The encryption is not supported. Use AES-CTR with a key of 128, 192 or 256 bits.';
    return { refusal: { code: REJECT.badSecret, reason: 'unsupported-encryption', description } };
  }
  if (keys === 'bad-secret') {
    const description = "The passphrase is wrong. Check it in your encoder's settings.";
    return { refusal: { code: REJECT.badSecret, reason: 'wrong-passphrase', description } };
  }
  return { cipher: new PayloadCipher(keys), passphrase };
}
