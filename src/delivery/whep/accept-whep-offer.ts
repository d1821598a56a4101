import type { MediaDescription, RtpCodec, SessionDescription } from '../../webrtc/sdp/session-description.ts';
import type { AcceptedMedia } from '../../webrtc/sdp/write-answer.ts';

/** Accepts the first video that can be H.264, and the first audio that can be Opus. A text says why that is impossible. */
export function acceptWhepOffer(offer: SessionDescription): readonly AcceptedMedia[] | string {
  const received = offer.media.filter(
    ({ isRejected, direction }) => !isRejected && (direction === 'recvonly' || direction === 'sendrecv'),
  );
  const video = acceptFirst(received, 'video', isH264);
  if (video === undefined) {
    return 'The offer does not accept H.264 video with packetization mode 1. Use a player that supports H.264.';
  }
  const audio = acceptFirst(received, 'audio', isOpus);
  const accepted = audio === undefined ? [video] : [video, audio];
  // Sorts as the answer lists them.
  return accepted.sort((a, b) => offer.media.indexOf(a.media) - offer.media.indexOf(b.media));
}

function acceptFirst(
  media: readonly MediaDescription[],
  kind: 'video' | 'audio',
  isUsable: (codec: RtpCodec) => boolean,
): AcceptedMedia | undefined {
  for (const each of media.filter(found => found.kind === kind)) {
    const codec = each.codecs.find(isUsable);
    if (codec === undefined) continue;
    return {
      direction: 'sendonly',
      media: each,
      codec,
      rtx: undefined,
      parameters: [],
      extensions: [],
      feedback: codec.feedback.includes('nack') ? ['nack'] : [],
    };
  }
  return undefined;
}

/**
 * Tells whether a codec is H.264, in whichever profile: decoders of browsers play all that encoders use. RFC 6184,
 * 8.1.
 */
function isH264({ name, clockRate, parameters }: RtpCodec): boolean {
  return (
    name.toLowerCase() === 'h264' && clockRate === 90_000 && parameters.get('packetization-mode') === '1'
  );
}

function isOpus({ name, clockRate }: RtpCodec): boolean {
  return name.toLowerCase() === 'opus' && clockRate === 48_000;
}
