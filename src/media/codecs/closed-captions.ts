import { readSeiMessages } from './sei-messages.ts';

/** A channel of CEA-608 or a service of CEA-708, as INSTREAM-ID of EXT-X-MEDIA names it. */
export type CaptionChannel = 'CC1' | 'CC3' | `SERVICE${number}`;

/** ITU-T H.264 (08/2021), table 7-1; ITU-T H.265 (08/2021), table 7-1. */
const AVC_SLICE_FIRST = 1;
const AVC_SLICE_LAST = 5;
const AVC_SEI = 6;
const HEVC_SLICE_LAST = 31;
const HEVC_PREFIX_SEI = 39;
/** user_data_registered_itu_t_t35: H.264, D.1.6. */
const REGISTERED_USER_DATA = 4;
/** ANSI/SCTE 128: country code, provider, `GA94`, and the type of cc_data. */
const CAPTION_HEADER = Buffer.from([0xb5, 0x00, 0x31, 0x47, 0x41, 0x39, 0x34, 0x03]);
const PROCESS_CC_DATA = 0x40;
const CC_VALID = 0x04;
const DTVCC_DATA = 2;
const DTVCC_START = 3;
const EXTENDED_SERVICE = 7;
const lengthBytes = 4;
/** Maximum units before the first slice. */
const maxUnits = 32;
const none: readonly CaptionChannel[] = [];

/**
 * Finds captions in the SEI messages of a frame. A field that has only padding counts for the first channel: encoders
 * that insert captions pad from the first frame on.
 * @param codec RFC 6381 @param data NAL units with 4-byte lengths
 */
export function findCaptionChannels(codec: string | undefined, data: Buffer): readonly CaptionChannel[] {
  const isAvc = codec?.startsWith('avc') === true;
  if (!isAvc && codec?.startsWith('h') !== true) return none;
  let at = 0;
  for (let count = 0; count < maxUnits && at + lengthBytes < data.length; count += 1) {
    const start = at + lengthBytes;
    const end = start + data.readUInt32BE(at);
    if (end > data.length) return none;
    const type = isAvc ? data[start]! & 0x1f : (data[start]! >> 1) & 0x3f;
    if (isAvc ? type >= AVC_SLICE_FIRST && type <= AVC_SLICE_LAST : type <= HEVC_SLICE_LAST) return none;
    if (type === (isAvc ? AVC_SEI : HEVC_PREFIX_SEI)) {
      const found = channelsOfSei(data.subarray(start + (isAvc ? 1 : 2), end));
      if (found.length > 0) return found;
    }
    at = end;
  }
  return none;
}

function channelsOfSei(unit: Buffer): readonly CaptionChannel[] {
  // Cheaper than reading the messages of every frame.
  if (!unit.includes('GA94')) return none;
  for (const { payloadType, payload } of readSeiMessages(unit)) {
    if (payloadType !== REGISTERED_USER_DATA) continue;
    if (!payload.subarray(0, CAPTION_HEADER.length).equals(CAPTION_HEADER)) continue;
    return channelsOfData(payload.subarray(CAPTION_HEADER.length));
  }
  return none;
}

/** CEA-708, 4.4: the count, a reserved byte, and three bytes for each pair. */
function channelsOfData(data: Buffer): readonly CaptionChannel[] {
  const [flags = 0] = data;
  if ((flags & PROCESS_CC_DATA) === 0) return none;
  const found = new Set<CaptionChannel>();
  let packet: number[] = [];
  for (let index = 0; index < (flags & 0x1f); index += 1) {
    const [head, first, second] = data.subarray(2 + 3 * index, 5 + 3 * index);
    if (head === undefined || first === undefined || second === undefined) break;
    if ((head & CC_VALID) === 0) continue;
    const type = head & 0x03;
    if (type === DTVCC_START) {
      addServices(packet, found);
      packet = [first, second];
    } else if (type === DTVCC_DATA) {
      if (packet.length > 0) packet.push(first, second);
    } else if (type === 0) found.add('CC1');
    else if (((first | second) & 0x7f) !== 0) found.add('CC3');
  }
  addServices(packet, found);
  return found.size === 0 ? none : [...found];
}

/** CEA-708, 5 and 6.2: a header, then blocks with the number of their service and their size. */
function addServices(packet: readonly number[], found: Set<CaptionChannel>): void {
  const sizeCode = (packet[0] ?? 0) & 0x3f;
  const end = Math.min(packet.length, sizeCode === 0 ? 128 : 2 * sizeCode);
  let at = 1;
  while (at < end) {
    const number = packet[at]! >> 5;
    const bytes = packet[at]! & 0x1f;
    if (number === 0 || bytes === 0) return;
    const isExtended = number === EXTENDED_SERVICE;
    const service = isExtended ? (packet[at + 1] ?? 0) & 0x3f : number;
    if (service > 0) found.add(`SERVICE${service}`);
    at += (isExtended ? 2 : 1) + bytes;
  }
}
