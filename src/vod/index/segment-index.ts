import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { AppError } from '../../shared/errors.ts';
import type { OpenedFile } from '../../shared/files/opened-file.ts';
import { readFully } from '../../storage/read-fully.ts';
import type { RenditionMetadata } from './rendition.ts';
import { encodeRecord, type SliceList } from './segment-record.ts';
import { MAX_SEGMENTS, SegmentTable, STORED_SEGMENT_BYTES } from './segment-table.ts';

/**
 * The index of a rendition maps its segments to byte ranges of an unchanged media file.
 *
 * ```
 * magic (8 bytes), one record per segment, header (JSON), init section, table, footer (32 bytes)
 * footer: sizes of header, init section and table; their CRC-32; position of the header (64-bit float); magic
 * ```
 *
 * Numbers are little-endian, 32 bits unless noted. The footer comes last, so an unfinished file is not a valid index.
 */
const MAGIC = Buffer.from('MRVODIX1', 'latin1');
const FOOTER_BYTES = 32;

const MAX_HEADER_BYTES = 64 * 1024;
const MAX_INIT_BYTES = 1024 * 1024;
const FLUSH_BYTES = 32 * 1024;

interface IndexHeader {
  readonly media: string;
  readonly mediaBytes: number;
  readonly startTicks: number;
  readonly renditionMetadata: RenditionMetadata;
}

export interface LoadedIndex extends IndexHeader {
  readonly init: Buffer;
  readonly table: SegmentTable;
}

/** Flushed records can be read meanwhile. The owner closes it. */
export class SegmentIndexWriter {
  readonly table = new SegmentTable();
  readonly #handle: FileHandle;
  #waiting: Buffer[] = [MAGIC];
  #waitingBytes = MAGIC.length;
  #position = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async create(path: string): Promise<SegmentIndexWriter> {
    return new SegmentIndexWriter(await open(path, 'w+'));
  }

  get isFull(): boolean {
    return this.#waitingBytes >= FLUSH_BYTES;
  }

  /** Writes `head`, then the slices, `sliceBytes` in total. @throws AppError `media-malformed` */
  add(durationTicks: number, head: Buffer, slices: SliceList, sliceBytes: number): void {
    const record = encodeRecord(head, slices);
    this.table.push({
      durationTicks,
      bytes: head.length + sliceBytes,
      recordBytes: record.length,
      recordCheck: crc32(record),
    });
    this.#append(record);
  }

  /** Writes what is waiting. After an error, the next flush tries again. Flushes must not overlap. */
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

  record(index: number): Promise<Buffer> {
    return readRecord(this.#handle, this.table, index);
  }

  /** No segment can be added afterwards. */
  async finish(header: IndexHeader, init: Buffer): Promise<void> {
    const json = encodeHeader(header);
    const table = this.table.toBytes();
    const trailer = Buffer.concat([json, init, table]);
    const footer = Buffer.alloc(FOOTER_BYTES);
    footer.writeUInt32LE(json.length, 0);
    footer.writeUInt32LE(init.length, 4);
    footer.writeUInt32LE(table.length, 8);
    footer.writeUInt32LE(crc32(trailer), 12);
    footer.writeDoubleLE(this.#position + this.#waitingBytes, 16);
    MAGIC.copy(footer, 24);
    this.#append(trailer);
    this.#append(footer);
    await this.flush();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  #append(bytes: Buffer): void {
    this.#waiting.push(ownCopy(bytes));
    this.#waitingBytes += bytes.length;
  }
}

/** A view of Node's pool would keep the whole pool. */
function ownCopy(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

/** @throws AppError `server-error` when the index is damaged or unfinished */
export async function loadIndex(file: OpenedFile, size: number): Promise<LoadedIndex> {
  if (size < MAGIC.length + FOOTER_BYTES) throw damaged('is too short');
  const footer = await readExactly(file, size - FOOTER_BYTES, FOOTER_BYTES);
  if (!footer.subarray(24).equals(MAGIC)) throw damaged('is unfinished');
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
    throw damaged('has a footer that contradicts its size');
  }
  const trailer = await readExactly(file, start, headerBytes + initBytes + tableBytes);
  if (crc32(trailer) !== footer.readUInt32LE(12)) throw damaged('has a wrong header checksum');
  const header = decodeHeader(trailer.toString('utf8', 0, headerBytes));
  const table = SegmentTable.fromBytes(trailer.subarray(headerBytes + initBytes));
  // A copy, so that the stored table can be freed.
  return { ...header, init: ownCopy(trailer.subarray(headerBytes, headerBytes + initBytes)), table };
}

/** @throws AppError `server-error` when the record is damaged or does not exist */
export async function readRecord(file: OpenedFile, table: SegmentTable, index: number): Promise<Buffer> {
  const { recordStart, recordBytes, recordCheck } = table.row(index);
  const record = await readExactly(file, MAGIC.length + recordStart, recordBytes);
  if (crc32(record) !== recordCheck) throw damaged(`has a wrong checksum in record ${index}`);
  return record;
}

async function readExactly(file: OpenedFile, position: number, length: number): Promise<Buffer> {
  const bytes = await readFully(file, position, length);
  if (bytes.length < length) throw damaged('is truncated');
  return bytes;
}

/** The name of `maxSegmentDurationSeconds` in files. */
const storedMaxDuration = 'longestSegmentSeconds';

function encodeHeader({
  renditionMetadata: { maxSegmentDurationSeconds, ...metadata },
  ...header
}: IndexHeader): Buffer {
  const stored = { ...metadata, [storedMaxDuration]: maxSegmentDurationSeconds };
  return Buffer.from(JSON.stringify({ ...header, facts: stored }));
}

function decodeHeader(json: string): IndexHeader {
  const { facts: stored, ...header } = JSON.parse(json);
  const { [storedMaxDuration]: maxSegmentDurationSeconds, ...others } = stored;
  return { ...header, renditionMetadata: { ...others, maxSegmentDurationSeconds } };
}

function damaged(how: string): AppError {
  return new AppError('server-error', `The index of a rendition ${how}.`);
}
