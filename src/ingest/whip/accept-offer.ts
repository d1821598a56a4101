import type { MediaDescription, RtpCodec, SessionDescription } from '../../webrtc/sdp/session-description.ts';
import type { AcceptedMedia } from '../../webrtc/sdp/write-answer.ts';
import { transportWideExtension } from '../../webrtc/webrtc-session.ts';

export type VideoCodec = 'avc1' | 'hvc1' | 'av01' | 'vp08';

const videoCodecs: Readonly<Record<string, VideoCodec>> = {
  h264: 'avc1',
  h265: 'hvc1',
  av1: 'av01',
  vp8: 'vp08',
};
/** Feedback that this server sends, of what the client offers. */
const usedFeedback = ['nack', 'nack pli', 'transport-cc'];

/** Browsers of the WebRTC library of Chromium would start at 300 kbit/s, in a small size. */
const startBitrate = ['x-google-start-bitrate=1500'];

export function videoCodecOf({ name }: RtpCodec): VideoCodec | undefined {
  return videoCodecs[name.toLowerCase()];
}

/** True for video that players cannot play, so that this server must encode it. */
export function needsEncoding(codec: RtpCodec): boolean {
  return videoCodecOf(codec) === 'vp08';
}

/**
 * Accepts one video and one audio of a WHIP offer, each with the first codec that can be published, and video that must be
 * encoded only where there is no other. A text says why there is neither.
 */
export function acceptOffer(
  offer: SessionDescription,
  { canEncode }: { readonly canEncode: boolean },
): readonly AcceptedMedia[] | string {
  const sent = offer.media.filter(
    ({ isRejected, direction }) => !isRejected && (direction === 'sendonly' || direction === 'sendrecv'),
  );
  const accepted: AcceptedMedia[] = [];
  for (const kind of ['video', 'audio']) {
    const media = sent.filter(each => each.kind === kind);
    if (media.length === 0) continue;
    const usable = media.flatMap(each => {
      const codecs = kind === 'video' ? each.codecs.filter(isUsableVideo) : each.codecs.filter(isUsableAudio);
      return codecs.map(codec => ({ media: each, codec }));
    });
    const first = usable.find(({ codec }) => !needsEncoding(codec)) ?? (canEncode ? usable[0] : undefined);
    if (first === undefined) return noCodecText(kind, media, canEncode);
    accepted.push(accept(first.media, first.codec));
  }
  // Sorts as the answer lists them.
  accepted.sort((a, b) => offer.media.indexOf(a.media) - offer.media.indexOf(b.media));
  return accepted.length > 0 ? accepted : 'The offer has neither video nor audio.';
}

function accept(media: MediaDescription, codec: RtpCodec): AcceptedMedia {
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

function noCodecText(kind: string, media: readonly MediaDescription[], canEncode: boolean): string {
  const helpers = ['rtx', 'red', 'ulpfec', 'flexfec-03', 'telephone-event', 'cn'];
  const names = new Set(media.flatMap(({ codecs }) => codecs.map(({ name }) => name)));
  const offered = [...names].filter(name => !helpers.includes(name.toLowerCase())).slice(0, 8);
  const needed =
    kind === 'video'
      ? `H.264 (packetization mode 1), H.265${canEncode ? ', AV1 or VP8' : ' or AV1'}. Choose H.264 in the encoder or browser.`
      : 'Opus. Choose Opus in the encoder.';
  return `The offer has ${kind} as ${offered.join(', ') || 'no codec'}, but this server needs ${needed}`;
}
