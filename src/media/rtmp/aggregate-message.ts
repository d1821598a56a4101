import { malformedRtmp } from './chunk-reader.ts';

interface AggregatedTag {
  /** 8 audio, 9 video, 18 script. */
  readonly type: number;
  /** 0..2^32-1, on the timeline of the aggregate message. */
  readonly timestampMs: number;
  /** View of the aggregate message. */
  readonly body: Buffer;
}

/** Maximum tags per message; encoders put a second or two of media into one. */
const MAX_TAGS = 1000;

const tagHeaderBytes = 11;
const backPointerBytes = 4;

/** Shifts timestamps so that the first tag has the message's (RTMP 1.0, 7.1.6). @throws AppError `media-malformed` */
export function splitAggregate(payload: Buffer, timestampMs: number): AggregatedTag[] {
  const tags: AggregatedTag[] = [];
  let shiftMs: number | undefined;
  let offset = 0;
  while (offset < payload.length) {
    const start = offset + tagHeaderBytes;
    if (start > payload.length) throw malformedRtmp('a truncated tag in an aggregate message');
    const end = start + payload.readUIntBE(offset + 1, 3);
    if (end + backPointerBytes > payload.length)
      throw malformedRtmp('a truncated tag in an aggregate message');
    const tagTimestampMs = payload.readUIntBE(offset + 4, 3) + payload[offset + 7]! * 0x1000000;
    if (tags.length === MAX_TAGS) throw malformedRtmp(`more than ${MAX_TAGS} tags in an aggregate message`);
    shiftMs ??= timestampMs - tagTimestampMs;
    tags.push({
      type: payload[offset]!,
      timestampMs: (tagTimestampMs + shiftMs) >>> 0,
      body: payload.subarray(start, end),
    });
    offset = end + backPointerBytes;
  }
  return tags;
}
