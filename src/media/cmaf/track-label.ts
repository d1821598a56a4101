import { iso639Code } from '../../shared/text/iso-639.ts';
import { childBoxes, FieldReader, findChildBox, requireBox, requireChildBox } from './box-reader.ts';
import { box, fullBox, u8 } from './box-writer.ts';

/** Tells the tracks of a kind in one file apart. */
export interface TrackLabel {
  readonly name?: string | undefined;
  /** RFC 5646. */
  readonly language?: string | undefined;
  /** Players begin with it. */
  readonly isDefault: boolean;
}

const maxTextBytes = 1024;

/** Flags for `tkhd`: in the movie, and enabled when it is the default (ISO/IEC 14496-12:2022, 8.3.2). */
export function trackFlags(label: TrackLabel | undefined): number {
  return label?.isDefault === false ? 2 : 3;
}

/** Language for `mdhd`, which has room for three letters. */
export function languageCode(label: TrackLabel): string {
  return iso639Code(label.language) ?? 'und';
}

/** Group for `tkhd`: tracks that are in one are alternatives; 0 is none. */
export function alternateGroup(label: TrackLabel | undefined): number {
  return label === undefined ? 0 : 1;
}

/** The whole language tag (8.4.6), for `mdia`. */
export function extendedLanguage({ language }: TrackLabel): Buffer[] {
  return language === undefined ? [] : [fullBox('elng', 0, 0, Buffer.from(language), u8(0))];
}

/** The name, for `trak`, as ffmpeg and QuickTime read it. */
export function userData({ name }: TrackLabel): Buffer[] {
  return name === undefined ? [] : [box('udta', box('name', Buffer.from(name)))];
}

/** Reads the labels that an init section was written with, by track id. */
export function readTrackLabels(init: Buffer): Map<number, TrackLabel> {
  const labels = new Map<number, TrackLabel>();
  const moov = requireBox(childBoxes(init, 0, init.length, 'file'), 'moov', 'file');
  for (const trak of childBoxes(init, moov.bodyStart, moov.end, 'moov')) {
    if (trak.type !== 'trak') continue;
    const header = new FieldReader(init, requireChildBox(init, trak, 'tkhd'));
    const isLong = header.u8() === 1;
    const flags = header.u24();
    header.skip(isLong ? 16 : 8);
    const id = header.u32();
    // Reserved, duration, reserved and layer.
    header.skip(isLong ? 4 + 8 + 8 + 2 : 4 + 4 + 8 + 2);
    if (header.u16() === 0) continue;
    const elng = findChildBox(init, requireChildBox(init, trak, 'mdia'), 'elng');
    const udta = findChildBox(init, trak, 'udta');
    const title = udta && findChildBox(init, udta, 'name');
    labels.set(id, {
      name: title && textAt(init, title.bodyStart, title.end),
      language: elng && textAt(init, elng.bodyStart + 4, elng.end - 1),
      isDefault: flags % 2 === 1,
    });
  }
  return labels;
}

function textAt(bytes: Buffer, start: number, end: number): string | undefined {
  if (end <= start || end - start > maxTextBytes) return undefined;
  return bytes.toString('utf8', start, end);
}
