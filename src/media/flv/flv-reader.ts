import { AppError } from '../../shared/errors.ts';
import { type FlvTag, flvTagTypes } from './flv-tag.ts';

const headBytes = 13;
const tagHeadBytes = 11;
const scriptType = 18;

/** Bodies are views of `bytes` (FLV specification 10.1, E.2, E.3 and E.4.1). @throws AppError `media-malformed` */
export function readFlvTags(bytes: Buffer): FlvTag[] {
  if (bytes.length < headBytes || bytes.toString('latin1', 0, 3) !== 'FLV') {
    throw new AppError('media-malformed', 'the FLV header is missing');
  }
  const tags: FlvTag[] = [];
  let at = headBytes;
  while (at + tagHeadBytes <= bytes.length) {
    const type = bytes[at]! & 0x1f;
    const bodyBytes = bytes.readUIntBE(at + 1, 3);
    const timestampMs = bytes.readUIntBE(at + 4, 3) + bytes[at + 7]! * 2 ** 24;
    const bodyAt = at + tagHeadBytes;
    if (bodyAt + bodyBytes > bytes.length)
      throw new AppError('media-malformed', 'the last FLV tag is truncated');
    const kind =
      type === flvTagTypes.audio
        ? 'audio'
        : type === flvTagTypes.video
          ? 'video'
          : type === scriptType
            ? 'script'
            : undefined;
    if (kind !== undefined)
      tags.push({ kind, timestampMs, body: bytes.subarray(bodyAt, bodyAt + bodyBytes) });
    at = bodyAt + bodyBytes + 4;
  }
  return tags;
}
