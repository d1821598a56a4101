import type { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import type { ReadAt } from '../cmaf/progressive-file.ts';

/** Bytes to overwrite at a position. */
interface Patch {
  readonly position: number;
  readonly bytes: Buffer;
}

/** The payload of an element that has a time. `ticks` of a block are relative to its cluster. */
interface TimeElement {
  readonly kind: 'cluster' | 'block' | 'cue';
  readonly position: number;
  readonly length: number;
  readonly ticks: number;
}

/** RFC 9559, 5.1. */
const ids = {
  segment: 0x18538067,
  cluster: 0x1f43b675,
  blockGroup: 0xa0,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
} as const;
const entered: ReadonlySet<number> = new Set(Object.values(ids));
const clusterTimestamp = 0xe7;
const cueTime = 0xb3;
const blocks: ReadonlySet<number> = new Set([0xa1, 0xa3]);
const ebmlHeader = Buffer.from('1a45dfa3', 'hex');
/** Times of blocks have 16 bits. */
const maxBlockTicks = 32_767;
/** An id of four bytes and a size of eight, then the number of a track and a time. */
const maxHeadBytes = 22;
const windowBytes = 64 * 1024;
/** Longer numbers are not exact. */
const maxNumberBytes = 6;

/** Time of the earliest block, when it is below zero: ffmpeg loses such times. Zero for any other file. */
export async function findNegativeTicks(readAt: ReadAt, slice: TimeSlice): Promise<number> {
  if (!(await readAt(0, ebmlHeader.length)).equals(ebmlHeader)) return 0;
  let clusterTicks = 0;
  let earliest = 0;
  for await (const { kind, ticks } of timesOf(readAt, slice)) {
    if (kind === 'cluster') clusterTicks = ticks;
    if (clusterTicks > maxBlockTicks) break;
    if (kind === 'block') earliest = Math.min(earliest, clusterTicks + ticks);
  }
  return earliest;
}

/**
 * Adds `ticks` to the times of all blocks without moving a byte: what a cluster's own time has no room for is added to its
 * blocks. Ends without an answer where a time cannot be changed.
 */
export async function* shiftTimes(
  readAt: ReadAt,
  ticks: number,
  slice: TimeSlice,
): AsyncGenerator<Patch, 'done' | 'no-room'> {
  let restTicks = 0;
  for await (const { kind, position, length, ticks: before } of timesOf(readAt, slice)) {
    if (kind === 'block') {
      if (before + restTicks > maxBlockTicks) return 'no-room';
      if (restTicks === 0) continue;
      const bytes = Buffer.alloc(length);
      bytes.writeInt16BE(before + restTicks);
      yield { position, bytes };
      continue;
    }
    const after = Math.min(before + ticks, 2 ** (8 * length) - 1);
    if (kind === 'cluster') restTicks = before + ticks - after;
    if (length === 0) continue;
    const bytes = Buffer.alloc(length);
    bytes.writeUIntBE(after, 0, length);
    yield { position, bytes };
  }
  return 'done';
}

/** Enters clusters without looking for their ends, which may be unknown. Ends at the first damaged element. */
async function* timesOf(readAt: ReadAt, slice: TimeSlice): AsyncGenerator<TimeElement> {
  let window: Buffer = Buffer.alloc(0);
  let windowAt = 0;
  for (let at = 0; ; ) {
    if (at + maxHeadBytes > windowAt + window.length) {
      windowAt = at;
      window = await readAt(at, windowBytes);
    }
    await slice.yieldIfOver();
    const head = window.subarray(at - windowAt, at - windowAt + maxHeadBytes);
    const idLength = vintLength(head, 0);
    const sizeLength = vintLength(head, idLength);
    if (sizeLength === 0 || idLength > 4) return;
    const id = head.readUIntBE(0, idLength);
    const size = vintAt(head, idLength, sizeLength);
    const bodyAt = idLength + sizeLength;
    at += bodyAt;
    if (entered.has(id)) continue;
    if (size === undefined) return;
    if ((id === clusterTimestamp || id === cueTime) && size <= maxNumberBytes) {
      if (head.length < bodyAt + size) return;
      const ticks = size === 0 ? 0 : head.readUIntBE(bodyAt, size);
      yield { kind: id === cueTime ? 'cue' : 'cluster', position: at, length: size, ticks };
    } else if (blocks.has(id)) {
      const trackLength = vintLength(head, bodyAt);
      const timeAt = bodyAt + trackLength;
      if (trackLength === 0 || head.length < timeAt + 2) return;
      yield { kind: 'block', position: at + trackLength, length: 2, ticks: head.readInt16BE(timeAt) };
    }
    at += size;
  }
}

/** Zero when there is none. RFC 8794, 4. */
function vintLength(bytes: Buffer, at: number): number {
  const length = Math.clz32(bytes[at] ?? 0) - 23;
  return length > 8 || at + length > bytes.length ? 0 : length;
}

/** Undefined when it is unknown, or too large to be exact. */
function vintAt(bytes: Buffer, at: number, length: number): number | undefined {
  let value = bytes[at]! & (0xff >> length);
  let isUnknown = value === 0xff >> length;
  for (const byte of bytes.subarray(at + 1, at + length)) {
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return isUnknown || !Number.isSafeInteger(value) ? undefined : value;
}
