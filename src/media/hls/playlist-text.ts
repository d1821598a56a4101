import { AppError } from '../../shared/errors.ts';

export interface PlaylistLine {
  /** Number of the line, from 1. */
  readonly number: number;
  /** `EXTINF`, `EXT-X-MAP`, ...; undefined on a URI line. */
  readonly tag: string | undefined;
  /** The text after the tag's colon, or the URI. */
  readonly value: string;
}

/** `line 3: expected ..., found "..."`. */
export function unexpected(line: Pick<PlaylistLine, 'number'>, expected: string, found?: string): AppError {
  const shown = found === undefined ? '' : `, found "${found.slice(0, 60)}"`;
  return new AppError('playlist-malformed', `line ${line.number}: expected ${expected}${shown}`);
}

/** Skips blank lines and comments (draft-pantos-hls-rfc8216bis-22, 4.1). @throws AppError `playlist-malformed` */
export function* readLines(text: string): Generator<PlaylistLine> {
  const lines = text.split(/\r?\n/);
  const [first = ''] = lines;
  if (first !== '#EXTM3U') throw unexpected({ number: 1 }, '#EXTM3U', first);
  for (const [index, line] of lines.entries()) {
    const number = index + 1;
    if (index === 0 || line === '') continue;
    if (!line.startsWith('#')) {
      yield { number, tag: undefined, value: line };
    } else if (line.startsWith('#EXT')) {
      const colon = line.indexOf(':');
      if (colon === -1) yield { number, tag: line.slice(1), value: '' };
      else yield { number, tag: line.slice(1, colon), value: line.slice(colon + 1) };
    }
  }
}

/** Fifteen digits are exact. */
export function readInteger(line: PlaylistLine, text: string, name: string, min = 0): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value < min) throw unexpected(line, `an integer of at least ${min} for ${name}`, text);
  return value;
}

export function readDecimal(line: PlaylistLine, text: string, name: string): number {
  if (!/^\d{1,9}(\.\d{1,15})?$/.test(text)) throw unexpected(line, `a decimal number for ${name}`, text);
  return Number(text);
}

/** Five decimals (HLS Authoring Specification for Apple Devices, 8.1). */
export function seconds(value: number): string {
  return decimal(value, 5);
}

/** @throws AppError `server-error` outside 0..10^9 */
export function decimal(value: number, digits: number): string {
  if (!(value >= 0 && value < 1e9)) throw new AppError('server-error', `${value} cannot stand in a playlist`);
  return value.toFixed(digits);
}

export function integer(value: number, min = 0): string {
  if (!Number.isSafeInteger(value) || value < min) {
    throw new AppError('server-error', `${value} is no integer of at least ${min} for a playlist`);
  }
  return String(value);
}

/** @throws AppError `server-error` for a quote or a control character */
export function quoted(value: string): string {
  if (/["\p{Cc}]/u.test(value) || value === '') {
    throw new AppError('server-error', `${JSON.stringify(value)} cannot be quoted in a playlist`);
  }
  return `"${value}"`;
}

/** @throws AppError `server-error` for text that would be read as something else */
export function uriLine(uri: string): string {
  if (/\p{Cc}/u.test(uri) || uri === '' || uri.startsWith('#')) {
    throw new AppError('server-error', `${JSON.stringify(uri)} cannot be a line of a playlist`);
  }
  return uri;
}
