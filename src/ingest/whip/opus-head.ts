/** Samples that decoders drop at the start, as libopus needs it. */
const PRE_SKIP = 312;

/** Identification header of Opus from WebRTC, which is always 48 kHz stereo. RFC 7845, 5.1; RFC 7587, 4.1. */
export function opusHead(): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 'latin1');
  head[8] = 1; // version
  head[9] = 2; // channels
  head.writeUInt16LE(PRE_SKIP, 10);
  head.writeUInt32LE(48_000, 12);
  return head;
}
