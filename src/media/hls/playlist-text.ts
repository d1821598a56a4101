import { AppError } from '../../shared/errors.ts';

/** One line of a playlist that says something: a tag or a URI. */
export interface PlaylistLine {
  /** 1 for the first line of the text. */
  readonly number: number;
  /** `EXTINF`, `EXT-X-MAP`, ...; undefined on a URI line. */
  readonly tag: string | undefined;
  /** What stands after the tag's colon, or the URI. */
  readonly value: string;
}

/** The error for a text that breaks the rules: `line 3: expected ..., found "..."`. */
export function unexpected(line: Pick<PlaylistLine, 'number'>, expected: string, found?: string): AppError {
  const shown = found === undefined ? '' : `, found "${found.slice(0, 60)}"`;
  return new AppError('playlist-malformed', `line ${line.number}: expected ${expected}${shown}`);
}

/**
 * The lines of a playlist after its first one, without blanks and comments.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22, 4.1.
 *
 * @throws AppError `playlist-malformed` when the text does not begin with `#EXTM3U`.
 */
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

/** A decimal-integer of at least `least`. Fifteen digits are exact and more than anything here counts to. */
export function readInteger(line: PlaylistLine, text: string, name: string, least = 0): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value < least) throw unexpected(line, `an integer of at least ${least} for ${name}`, text);
  return value;
}

/** A decimal-floating-point, in seconds or frames a second. */
export function readDecimal(line: PlaylistLine, text: string, name: string): number {
  if (!/^\d{1,9}(\.\d{1,15})?$/.test(text)) throw unexpected(line, `a decimal number for ${name}`, text);
  return Number(text);
}

/** A duration in seconds with five decimals. **Source**: HLS Authoring Specification for Apple Devices, 8.1. */
export function seconds(value: number): string {
  return decimal(value, 5);
}

/** A number 0..10^9 with so many decimals. @throws AppError `server-error` for any other. */
export function decimal(value: number, digits: number): string {
  if (!(value >= 0 && value < 1e9)) throw new AppError('server-error', `${value} cannot stand in a playlist`);
  return value.toFixed(digits);
}

/** A whole number of at least `least`. @throws AppError `server-error` for any other. */
export function integer(value: number, least = 0): string {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new AppError('server-error', `${value} is no integer of at least ${least} for a playlist`);
  }
  return String(value);
}

/** A quoted-string. @throws AppError `server-error` when it holds what none may: a quote or a control character. */
export function quoted(value: string): string {
  if (/["\p{Cc}]/u.test(value) || value === '') {
    throw new AppError('server-error', `${JSON.stringify(value)} cannot be quoted in a playlist`);
  }
  return `"${value}"`;
}

/** A line with a URI. @throws AppError `server-error` for what would be read as something else. */
export function uriLine(uri: string): string {
  if (/\p{Cc}/u.test(uri) || uri === '' || uri.startsWith('#')) {
    throw new AppError('server-error', `${JSON.stringify(uri)} cannot be a line of a playlist`);
  }
  return uri;
}
