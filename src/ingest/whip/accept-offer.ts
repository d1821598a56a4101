import type { MediaDescription, RtpCodec, SessionDescription } from '../../webrtc/sdp/session-description.ts';
import type { AcceptedMedia } from '../../webrtc/sdp/write-answer.ts';
import { transportWideExtension } from '../../webrtc/webrtc-session.ts';

export type VideoCodec = 'avc1' | 'hvc1' | 'av01';

const videoCodecs: Readonly<Record<string, VideoCodec>> = { h264: 'avc1', h265: 'hvc1', av1: 'av01' };
/** Feedback that this server sends, of what the client offers. */
const usedFeedback = ['nack', 'nack pli', 'transport-cc'];

/** Browsers of the WebRTC library of Chromium would start at 300 kbit/s, in a small size. */
const startBitrate = ['x-google-start-bitrate=1500'];

export function videoCodecOf({ name }: RtpCodec): VideoCodec | undefined {
  return videoCodecs[name.toLowerCase()];
}

/**
 * Accepts one video and one audio of a WHIP offer, each with the first codec that can be published. A text says why there
 * is neither.
 */
export function acceptOffer(offer: SessionDescription): readonly AcceptedMedia[] | string {
  const sent = offer.media.filter(
    ({ isRejected, direction }) => !isRejected && (direction === 'sendonly' || direction === 'sendrecv'),
  );
  const accepted: AcceptedMedia[] = [];
  for (const kind of ['video', 'audio']) {
    const media = sent.filter(each => each.kind === kind);
    if (media.length === 0) continue;
    const first = media.map(each => accept(each)).find(each => each !== undefined);
    if (first === undefined) return noCodecText(kind, media);
    accepted.push(first);
  }
  // Sorts as the answer lists them.
  accepted.sort((a, b) => offer.media.indexOf(a.media) - offer.media.indexOf(b.media));
  return accepted.length > 0 ? accepted : 'The offer has neither video nor audio.';
}

function accept(media: MediaDescription): AcceptedMedia | undefined {
  const codec = media.codecs.find(each =>
    media.kind === 'video' ? isUsableVideo(each) : isUsableAudio(each),
  );
  if (codec === undefined) return undefined;
  const rtx = media.codecs.find(
    each => each.name.toLowerCase() === 'rtx' && Number(each.parameters.get('apt')) === codec.payloadType,
  );
  return {
    direction: 'recvonly',
    media,
    codec,
    rtx,
    parameters: codec.feedback.includes('goog-remb') && media.kind === 'video' ? startBitrate : [],
    feedback: usedFeedback.filter(each => codec.feedback.includes(each)),
    extensions: media.extensions.has(transportWideExtension) ? [transportWideExtension] : [],
  };
}

/**
 * Tells whether a codec can be used. Without packetization mode 1, a frame would have to fit one packet. RFC 6184,
 * 8.1.
 */
function isUsableVideo(codec: RtpCodec): boolean {
  const name = videoCodecOf(codec);
  if (name === undefined || codec.clockRate !== 90_000) return false;
  if (name === 'hvc1') return (codec.parameters.get('sprop-max-don-diff') ?? '0') === '0';
  return name !== 'avc1' || codec.parameters.get('packetization-mode') === '1';
}

function isUsableAudio({ name, clockRate }: RtpCodec): boolean {
  return name.toLowerCase() === 'opus' && clockRate === 48_000;
}

function noCodecText(kind: string, media: readonly MediaDescription[]): string {
  const helpers = ['rtx', 'red', 'ulpfec', 'flexfec-03', 'telephone-event', 'cn'];
  const names = new Set(media.flatMap(({ codecs }) => codecs.map(({ name }) => name)));
  const offered = [...names].filter(name => !helpers.includes(name.toLowerCase())).slice(0, 8);
  const needed =
    kind === 'video'
      ? 'H.264 (packetization mode 1), H.265 or AV1. Choose H.264 in the encoder or browser.'
      : 'Opus. Choose Opus in the encoder.';
  return `The offer has ${kind} as ${offered.join(', ') || 'no codec'}, but this server needs ${needed}`;
}
