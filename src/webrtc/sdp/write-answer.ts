import type { IceCandidate } from '../ice/ice-candidates.ts';
import type {
  IceCredentials,
  MediaDescription,
  RtpCodec,
  SessionDescription,
} from './session-description.ts';

/** A track that the server receives or sends. */
export interface AcceptedMedia {
  /** Direction from the server's side. */
  readonly direction: 'recvonly' | 'sendonly';
  readonly media: MediaDescription;
  readonly codec: RtpCodec;
  /** Codec of retransmissions, where the client offers it. */
  readonly rtx: RtpCodec | undefined;
  /** Follow those of the offer in `a=fmtp`. */
  readonly parameters: readonly string[];
  /** Values of `a=rtcp-fb` that the server makes use of. */
  readonly feedback: readonly string[];
  /** URIs of header extensions that the server reads. */
  readonly extensions: readonly string[];
}

/** Stream of all tracks that the server sends: players put them into one stream, and play them in sync. */
export const streamName = 'broadcast';

interface AnswerOptions {
  readonly offer: SessionDescription;
  readonly accepted: readonly AcceptedMedia[];
  /** Source of each medium that the server sends. */
  readonly sources: ReadonlyMap<AcceptedMedia, number>;
  readonly sessionId: string;
  readonly ice: IceCredentials;
  readonly fingerprint: string;
  readonly candidates: readonly IceCandidate[];
}

/** Writes the answer of an ICE-lite server that is passive in DTLS. RFC 8829, 5.3. */
export function writeAnswer({ offer, accepted, sources, ...transport }: AnswerOptions): string {
  const bundle = accepted.map(({ media }) => media.mid);
  const lines = [
    'v=0',
    `o=- ${transport.sessionId} 1 IN IP4 0.0.0.0`,
    's=-',
    't=0 0',
    `a=group:BUNDLE ${bundle.join(' ')}`,
    'a=ice-lite',
    'a=ice-options:trickle',
    'a=msid-semantic: WMS *',
  ];
  for (const media of offer.media) {
    const chosen = accepted.find(each => each.media === media);
    lines.push(...(chosen === undefined ? rejected(media) : described(chosen, transport)));
    const source = chosen && sources.get(chosen);
    if (source !== undefined)
      lines.push(`a=msid:${streamName} ${media.kind}`, `a=ssrc:${source} cname:${streamName}`);
  }
  return `${lines.join('\r\n')}\r\n`;
}

function described(
  { direction, media, codec, rtx, parameters, feedback, extensions }: AcceptedMedia,
  { ice, fingerprint, candidates }: Pick<AnswerOptions, 'ice' | 'fingerprint' | 'candidates'>,
): string[] {
  const { payloadType } = codec;
  return [
    `m=${media.kind} 9 ${media.protocol} ${payloadType}${rtx === undefined ? '' : ` ${rtx.payloadType}`}`,
    'c=IN IP4 0.0.0.0',
    'a=rtcp:9 IN IP4 0.0.0.0',
    `a=mid:${media.mid}`,
    `a=${direction}`,
    'a=rtcp-mux',
    ...credentialLines(ice),
    `a=fingerprint:sha-256 ${fingerprint}`,
    'a=setup:passive',
    ...codecLines(codec, parameters),
    ...(rtx === undefined ? [] : codecLines(rtx)),
    ...feedback.map(each => `a=rtcp-fb:${payloadType} ${each}`),
    ...extensions.map(uri => `a=extmap:${media.extensions.get(uri)} ${uri}`),
    ...candidates.map(candidateLine),
    'a=end-of-candidates',
  ];
}

function codecLines(
  { payloadType, name, clockRate, channels, format }: RtpCodec,
  parameters: readonly string[] = [],
): string[] {
  const allParameters = [...(format === '' ? [] : [format]), ...parameters].join(';');
  return [
    `a=rtpmap:${payloadType} ${name}/${clockRate}${channels > 1 ? `/${channels}` : ''}`,
    ...(allParameters === '' ? [] : [`a=fmtp:${payloadType} ${allParameters}`]),
  ];
}

function rejected({ kind, protocol, formats, mid }: MediaDescription): string[] {
  return [
    `m=${kind} 0 ${protocol} ${formats}`,
    'c=IN IP4 0.0.0.0',
    ...(mid === '' ? [] : [`a=mid:${mid}`]),
    'a=inactive',
  ];
}

export function credentialLines({ usernameFragment, password }: IceCredentials): string[] {
  return [`a=ice-ufrag:${usernameFragment}`, `a=ice-pwd:${password}`];
}

/** RFC 8839, 5.1; RFC 6544, 4.5. */
export function candidateLine({ foundation, transport, priority, address, port }: IceCandidate): string {
  const type = transport === 'tcp' ? 'typ host tcptype passive' : 'typ host';
  return `a=candidate:${foundation} 1 ${transport} ${priority} ${address} ${port} ${type}`;
}
