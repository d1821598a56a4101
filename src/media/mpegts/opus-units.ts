/** Channel mapping of 1..8 channels in the order of Vorbis. RFC 7845, 5.1.1.2. */
const mappings: readonly (readonly [streams: number, coupled: number, map: readonly number[]])[] = [
  [1, 0, [0]],
  [1, 1, [0, 1]],
  [2, 1, [0, 2, 1]],
  [2, 2, [0, 1, 2, 3]],
  [3, 2, [0, 4, 1, 2, 3]],
  [4, 2, [0, 4, 1, 2, 3, 5]],
  [4, 3, [0, 4, 1, 2, 3, 5, 6]],
  [5, 3, [0, 6, 1, 2, 3, 4, 5, 7]],
];
const SAMPLE_RATE = 48_000;
const CONTROL_PREFIX = 0x7fe0;
const maxPacketBytes = 61_440;

/**
 * Writes the identification header. RFC 7845, 5.1.
 *
 * @param configuration channel_config_code of the Opus descriptor; 0 is two separate channels
 */
export function opusHead(configuration: number): Buffer {
  const channels = configuration >= 1 && configuration <= mappings.length ? configuration : 2;
  const hasMapping = channels > 2 || configuration === 0;
  const head = Buffer.alloc(hasMapping ? 21 + channels : 19);
  head.write('OpusHead', 'latin1');
  head[8] = 1;
  head[9] = channels;
  head.writeUInt32LE(SAMPLE_RATE, 12);
  if (!hasMapping) return head;
  const [streams, coupled, map] = mappings[channels - 1]!;
  head.set([configuration === 0 ? 255 : 1, streams, coupled, ...map], 18);
  return head;
}

/** Splits the payload of a PES packet, each Opus packet after its control header. */
export function splitOpusUnits(bytes: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let at = 0;
  while (at + 3 <= bytes.length && (bytes.readUInt16BE(at) & 0xffe0) === CONTROL_PREFIX) {
    const flags = bytes[at + 1]!;
    at += 2;
    let length = 0;
    let byte = 0xff;
    while (byte === 0xff && at < bytes.length && length <= maxPacketBytes) {
      byte = bytes[at++]!;
      length += byte;
    }
    if ((flags & 0x10) !== 0) at += 2; // start trim
    if ((flags & 0x08) !== 0) at += 2; // end trim
    if ((flags & 0x04) !== 0) at += 1 + (bytes[at] ?? 0); // extension
    if (length === 0 || at + length > bytes.length) break;
    packets.push(bytes.subarray(at, at + length));
    at += length;
  }
  return packets;
}

/** Duration of a packet in samples at 48 kHz. RFC 6716, 3.1 and 3.2. */
export function opusPacketSamples(packet: Buffer): number {
  const configuration = packet[0]! >> 3;
  const frame =
    configuration < 12
      ? [480, 960, 1920, 2880][configuration & 3]!
      : configuration < 16
        ? [480, 960][configuration & 1]!
        : [120, 240, 480, 960][configuration & 3]!;
  const code = packet[0]! & 3;
  return frame * (code === 0 ? 1 : code < 3 ? 2 : (packet[1] ?? 0) & 0x3f);
}
