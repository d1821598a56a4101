import { malformed } from './box-reader.ts';

/** ISO/IEC 14496-12:2022, 8.8.3.1. */
const SYNC_FLAGS = 0x02000000;
const NON_SYNC_FLAGS = 0x01010000;

/** The data offset of a `trun` is signed, and a larger `mdat` would need a longer header. */
const MAX_DATA_BYTES = 2 ** 31 - 2 ** 24;

/** The readers of this server have the same limit. */
const MAX_SAMPLES = 65_536;

/** Sample headers of one track in columns, because a long file has too many for objects. */
export class SampleColumns {
  #durations = new Uint32Array(256);
  #sizes = new Uint32Array(256);
  #offsets = new Int32Array(256);
  #syncs = new Uint8Array(256);
  #length = 0;
  #dataBytes = 0;

  get length(): number {
    return this.#length;
  }

  get dataBytes(): number {
    return this.#dataBytes;
  }

  /** Offsets are -2^31..2^31-1, other numbers 0..2^32-1. @throws AppError `media-malformed` when full */
  push(durationTicks: number, sizeBytes: number, compositionOffsetTicks: number, isSync: boolean): void {
    if (this.#length === MAX_SAMPLES)
      throw malformed('trun', `more than ${MAX_SAMPLES} samples in a fragment`);
    if (this.#length === this.#durations.length) this.#grow();
    this.#durations[this.#length] = durationTicks;
    this.#sizes[this.#length] = sizeBytes;
    this.#offsets[this.#length] = compositionOffsetTicks;
    this.#syncs[this.#length] = isSync ? 1 : 0;
    this.#length += 1;
    this.#dataBytes += sizeBytes;
  }

  extendLast(ticks: number): void {
    if (this.#length > 0) this.#durations[this.#length - 1]! += ticks;
  }

  clear(): void {
    this.#length = 0;
    this.#dataBytes = 0;
  }

  /** Views, valid until the next `push` or `clear`. */
  get columns(): {
    readonly durations: Uint32Array;
    readonly sizes: Uint32Array;
    readonly offsets: Int32Array;
    readonly syncs: Uint8Array;
  } {
    return {
      durations: this.#durations.subarray(0, this.#length),
      sizes: this.#sizes.subarray(0, this.#length),
      offsets: this.#offsets.subarray(0, this.#length),
      syncs: this.#syncs.subarray(0, this.#length),
    };
  }

  #grow(): void {
    const room = this.#durations.length * 2;
    const larger = {
      durations: new Uint32Array(room),
      sizes: new Uint32Array(room),
      offsets: new Int32Array(room),
      syncs: new Uint8Array(room),
    };
    larger.durations.set(this.#durations);
    larger.sizes.set(this.#sizes);
    larger.offsets.set(this.#offsets);
    larger.syncs.set(this.#syncs);
    this.#durations = larger.durations;
    this.#sizes = larger.sizes;
    this.#offsets = larger.offsets;
    this.#syncs = larger.syncs;
  }
}

export interface ColumnRun {
  readonly trackId: number;
  readonly baseDtsTicks: number;
  readonly samples: SampleColumns;
}

/** Writes the `moof` and the header of the `mdat`. @throws AppError `media-malformed` when the data is too large */
export function writeFragmentHeader(
  sequenceNumber: number,
  baseDtsTicks: number,
  samples: SampleColumns,
): Buffer {
  return beginFragment(sequenceNumber, [{ trackId: 1, baseDtsTicks, samples }], 0).fragment;
}

interface RunLayout {
  readonly run: ColumnRun;
  readonly values: SampleColumns['columns'];
  readonly tfhdFlags: number;
  readonly trunFlags: number;
  /** Defaults in the `tfhd`. */
  readonly defaults: number;
  /** Columns in the `trun`. */
  readonly columns: number;
}

const tfhdDefaults = { durations: 0x08, sizes: 0x10, flags: 0x20 } as const;
const trunColumns = {
  firstFlags: 0x004,
  durations: 0x100,
  sizes: 0x200,
  flags: 0x400,
  offsets: 0x800,
} as const;
const defaultBaseIsMoof = 0x020000;
const dataOffsetPresent = 0x001;
const boxTypes = {
  moof: 0x6d6f6f66,
  mfhd: 0x6d666864,
  traf: 0x74726166,
  tfhd: 0x74666864,
  tfdt: 0x74666474,
  trun: 0x7472756e,
  mdat: 0x6d646174,
} as const;

/**
 * Writes the `moof` of runs with samples and the header of their `mdat`, with room for `roomBytes` after it.
 * @throws AppError `media-malformed` when the data is too large
 */
export function beginFragment(
  sequenceNumber: number,
  runs: readonly ColumnRun[],
  roomBytes: number,
): { readonly fragment: Buffer; readonly headerBytes: number } {
  const layouts = runs.map(layOut);
  let dataBytes = 0;
  let moofBytes = 8 + 16;
  for (const layout of layouts) {
    dataBytes += layout.run.samples.dataBytes;
    moofBytes += trafBytesOf(layout);
  }
  if (dataBytes > MAX_DATA_BYTES) {
    throw malformed('mdat', `${dataBytes} bytes are too many for one fragment`);
  }
  const fragment = Buffer.allocUnsafeSlow(moofBytes + 8 + roomBytes);
  let at = fragment.writeUInt32BE(moofBytes, 0);
  at = fragment.writeUInt32BE(boxTypes.moof, at);
  at = fragment.writeUInt32BE(16, at);
  at = fragment.writeUInt32BE(boxTypes.mfhd, at);
  at = fragment.writeUInt32BE(0, at);
  at = fragment.writeUInt32BE(sequenceNumber, at);
  let dataOffset = moofBytes + 8;
  for (const layout of layouts) {
    at = writeTraf(fragment, at, layout, dataOffset);
    dataOffset += layout.run.samples.dataBytes;
  }
  at = fragment.writeUInt32BE(8 + dataBytes, at);
  at = fragment.writeUInt32BE(boxTypes.mdat, at);
  return { fragment, headerBytes: at };
}

/** Values that all samples share are in the `tfhd`; the others have a column in the `trun`. The default offset is 0. */
function layOut(run: ColumnRun): RunLayout {
  const values = run.samples.columns;
  const { durations, sizes, offsets, syncs } = values;
  let tfhdFlags = defaultBaseIsMoof;
  let trunFlags = dataOffsetPresent;
  let defaults = 0;
  let columns = 0;
  if (areAlike(durations, 0)) {
    tfhdFlags |= tfhdDefaults.durations;
    defaults += 1;
  } else {
    trunFlags |= trunColumns.durations;
    columns += 1;
  }
  if (areAlike(sizes, 0)) {
    tfhdFlags |= tfhdDefaults.sizes;
    defaults += 1;
  } else {
    trunFlags |= trunColumns.sizes;
    columns += 1;
  }
  if (areAlike(syncs, 1)) {
    tfhdFlags |= tfhdDefaults.flags;
    defaults += 1;
    if (syncs.length > 1 && syncs[0] !== syncs[1]) trunFlags |= trunColumns.firstFlags;
  } else {
    trunFlags |= trunColumns.flags;
    columns += 1;
  }
  if (offsets[0] !== 0 || !areAlike(offsets, 0)) {
    trunFlags |= trunColumns.offsets;
    columns += 1;
  }
  return { run, values, tfhdFlags, trunFlags, defaults, columns };
}

function trafBytesOf({ run, trunFlags, defaults, columns }: RunLayout): number {
  const firstFlagsBytes = (trunFlags & trunColumns.firstFlags) === 0 ? 0 : 4;
  return 8 + (16 + 4 * defaults) + 20 + (20 + firstFlagsBytes + 4 * columns * run.samples.length);
}

function writeTraf(bytes: Buffer, from: number, layout: RunLayout, dataOffset: number): number {
  const { run, values, tfhdFlags, trunFlags, defaults } = layout;
  const { trackId, baseDtsTicks, samples } = run;
  const { durations, sizes, offsets, syncs } = values;
  const trafBytes = trafBytesOf(layout);
  const tfhdBytes = 16 + 4 * defaults;
  let at = bytes.writeUInt32BE(trafBytes, from);
  at = bytes.writeUInt32BE(boxTypes.traf, at);
  at = bytes.writeUInt32BE(tfhdBytes, at);
  at = bytes.writeUInt32BE(boxTypes.tfhd, at);
  at = bytes.writeUInt32BE(tfhdFlags, at);
  at = bytes.writeUInt32BE(trackId, at);
  if ((tfhdFlags & tfhdDefaults.durations) !== 0) at = bytes.writeUInt32BE(durations[0]!, at);
  if ((tfhdFlags & tfhdDefaults.sizes) !== 0) at = bytes.writeUInt32BE(sizes[0]!, at);
  if ((tfhdFlags & tfhdDefaults.flags) !== 0) at = bytes.writeUInt32BE(flagsOf(syncs.at(1) ?? syncs[0]), at);
  at = bytes.writeUInt32BE(20, at);
  at = bytes.writeUInt32BE(boxTypes.tfdt, at);
  at = bytes.writeUInt32BE(0x01000000, at);
  at = bytes.writeUInt32BE(Math.floor(baseDtsTicks / 2 ** 32), at);
  at = bytes.writeUInt32BE(baseDtsTicks % 2 ** 32, at);
  at = bytes.writeUInt32BE(trafBytes - 8 - tfhdBytes - 20, at);
  at = bytes.writeUInt32BE(boxTypes.trun, at);
  at = bytes.writeUInt32BE(0x01000000 + trunFlags, at);
  at = bytes.writeUInt32BE(samples.length, at);
  at = bytes.writeUInt32BE(dataOffset, at);
  if ((trunFlags & trunColumns.firstFlags) !== 0) at = bytes.writeUInt32BE(flagsOf(syncs[0]), at);
  for (let index = 0; index < samples.length; index += 1) {
    if ((trunFlags & trunColumns.durations) !== 0) at = bytes.writeUInt32BE(durations[index]!, at);
    if ((trunFlags & trunColumns.sizes) !== 0) at = bytes.writeUInt32BE(sizes[index]!, at);
    if ((trunFlags & trunColumns.flags) !== 0) at = bytes.writeUInt32BE(flagsOf(syncs[index]), at);
    if ((trunFlags & trunColumns.offsets) !== 0) at = bytes.writeInt32BE(offsets[index]!, at);
  }
  return at;
}

function flagsOf(isSync: number | undefined): number {
  return isSync === 1 ? SYNC_FLAGS : NON_SYNC_FLAGS;
}

function areAlike(values: Uint32Array | Int32Array | Uint8Array, from: number): boolean {
  for (let index = from + 1; index < values.length; index += 1) {
    if (values[index] !== values[from]) return false;
  }
  return true;
}
