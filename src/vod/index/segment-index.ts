import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { AppError } from '../../shared/errors.ts';
import type { RenditionMetadata } from './rendition.ts';
import { encodeRecord, type SliceList } from './segment-record.ts';
import { MAX_SEGMENTS, SegmentTable, STORED_SEGMENT_BYTES } from './segment-table.ts';

/**
 * The index of a rendition: all that is needed to serve it from a media file that is left as it is.
 *
 * ```
 * magic (8 bytes), one record a segment, header (JSON), init section, table, footer (32 bytes)
 * footer: bytes of header, init section and table; CRC-32 of the three together; where the header starts (64 bit float); magic
 * ```
 *
 * Numbers are little-endian, of 32 bit unless said. The footer comes last, so a file that was not written to its end is none.
 */
const MAGIC = Buffer.from('MRVODIX1', 'latin1');
const FOOTER_BYTES = 32;

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_INIT_BYTES = 1024 * 1024;
const FLUSH_BYTES = 256 * 1024;

/** What an index says beside its segments. */
export interface IndexHeader {
  /** The media file's path, from the folder of the index. */
  readonly media: string;
  /** Length of the media file. */
  readonly mediaBytes: number;
  /** Start of the first segment less the first presented instant of the source, in ticks. */
  readonly startTicks: number;
  readonly facts: RenditionMetadata;
}

/** An index without its records. */
export interface LoadedIndex extends IndexHeader {
  readonly init: Buffer;
  readonly table: SegmentTable;
}

/** Writes an index, a segment at a time; what was flushed can be read back meanwhile. The owner closes it. */
export class SegmentIndexWriter {
  readonly table = new SegmentTable();
  readonly #handle: FileHandle;
  #waiting: Buffer[] = [MAGIC];
  #waitingBytes = MAGIC.length;
  #position = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Begins a file, in place of one that is there. */
  static async create(path: string): Promise<SegmentIndexWriter> {
    return new SegmentIndexWriter(await open(path, 'w+'));
  }

  /** True when it is time to {@link flush}. */
  get isFull(): boolean {
    return this.#waitingBytes >= FLUSH_BYTES;
  }

  /** Adds a segment: `head`, then the slices, which have `sliceBytes` together. @throws AppError `media-malformed` */
  add(durationTicks: number, head: Buffer, slices: SliceList, sliceBytes: number): void {
    const record = encodeRecord(head, slices);
    this.table.push({
      durationTicks,
      bytes: head.length + sliceBytes,
      recordBytes: record.length,
      recordCheck: crc32(record),
    });
    this.#wait(record);
  }

  /** Brings to the file what was added; what a disk does not take waits for the next flush. Not while a flush is under way. */
  async flush(): Promise<void> {
    let left = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      while (left.length > 0) {
        const { bytesWritten } = await this.#handle.write(left, 0, left.length, this.#position);
        left = left.subarray(bytesWritten);
        this.#position += bytesWritten;
      }
    } finally {
      if (left.length > 0) {
        this.#waiting.unshift(left);
        this.#waitingBytes += left.length;
      }
    }
  }

  /** Record of a segment that was flushed. @throws AppError `server-error` */
  record(index: number): Promise<Buffer> {
    return readRecord(this.#handle, this.table, index);
  }

  /** Makes it an index. Nothing can be added afterwards. */
  async finish(header: IndexHeader, init: Buffer): Promise<void> {
    const json = Buffer.from(JSON.stringify(header));
    const table = this.table.toBytes();
    const trailer = Buffer.concat([json, init, table]);
    const footer = Buffer.alloc(FOOTER_BYTES);
    footer.writeUInt32LE(json.length, 0);
    footer.writeUInt32LE(init.length, 4);
    footer.writeUInt32LE(table.length, 8);
    footer.writeUInt32LE(crc32(trailer), 12);
    footer.writeDoubleLE(this.#position + this.#waitingBytes, 16);
    MAGIC.copy(footer, 24);
    this.#wait(trailer);
    this.#wait(footer);
    await this.flush();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #wait(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }
}

/**
 * Reads an index, all but its records.
 *
 * @throws AppError `server-error` when it is damaged or was never finished
 */
export async function loadIndex(handle: FileHandle): Promise<LoadedIndex> {
  const { size } = await handle.stat();
  if (size < MAGIC.length + FOOTER_BYTES) throw damaged('is too short');
  const footer = await readExactly(handle, size - FOOTER_BYTES, FOOTER_BYTES);
  if (!footer.subarray(24).equals(MAGIC)) throw damaged('was not written to its end');
  const [headerBytes, initBytes, tableBytes] = [0, 4, 8].map(at => footer.readUInt32LE(at)) as [
    number,
    number,
    number,
  ];
  const start = footer.readDoubleLE(16);
  if (
    headerBytes > MAX_HEADER_BYTES ||
    initBytes > MAX_INIT_BYTES ||
    tableBytes > MAX_SEGMENTS * STORED_SEGMENT_BYTES ||
    tableBytes % STORED_SEGMENT_BYTES !== 0 ||
    start + headerBytes + initBytes + tableBytes + FOOTER_BYTES !== size
  ) {
    throw damaged('has a footer that contradicts its length');
  }
  const trailer = await readExactly(handle, start, headerBytes + initBytes + tableBytes);
  if (crc32(trailer) !== footer.readUInt32LE(12)) throw damaged('has a header that was changed');
  const header = JSON.parse(trailer.toString('utf8', 0, headerBytes)) as IndexHeader;
  const table = SegmentTable.fromBytes(trailer.subarray(headerBytes + initBytes));
  // A copy: the table's stored form need not live on with it.
  return { ...header, init: Buffer.from(trailer.subarray(headerBytes, headerBytes + initBytes)), table };
}

/** Reads the record of a segment. @throws AppError `server-error` when it is damaged, or there is no such segment */
export async function readRecord(handle: FileHandle, table: SegmentTable, index: number): Promise<Buffer> {
  const { recordStart, recordBytes, recordCheck } = table.row(index);
  const record = await readExactly(handle, MAGIC.length + recordStart, recordBytes);
  if (crc32(record) !== recordCheck) throw damaged(`has a record ${index} that was changed`);
  return record;
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
    if (bytesRead === 0) throw damaged('is cut off');
    done += bytesRead;
  }
  return bytes;
}

function damaged(how: string): AppError {
  return new AppError('server-error', `the index of a rendition ${how}`);
}
