import { parseVtt } from '../../../../shared/web-vtt.ts';

export type TrackCheck =
  | {
      readonly cues: number;
      readonly wasSubRip: boolean;
    }
  | { readonly fault: string };

export const maxTrackBytes = 8 * 1_024 * 1_024;

const chooseAnother = 'Choose a WebVTT (.vtt) or SubRip (.srt) file.';
const saveAsUtf8 = 'Save the file as UTF-8 and choose it again.';
const lineFeed = 0x0a;
const maxQuotedChars = 40;

const webVttTime = '((?:\\d+:)?[0-5]\\d:[0-5]\\d\\.\\d{3})';
const webVttTimes = new RegExp(`^[ \\t]*${webVttTime}[ \\t]*-->[ \\t]*${webVttTime}(?:[ \\t].*)?$`);
const webVttExample = 'times such as 00:01.000 --> 00:04.000';
const subRipTime = '(\\d{1,3}:[0-5]?\\d:[0-5]?\\d[,.]\\d{1,3})';
const subRipTimes = new RegExp(`^${subRipTime}[ \\t]*-->[ \\t]*${subRipTime}(?:[ \\t].*)?$`);
const subRipExample = 'times such as 00:00:01,000 --> 00:00:04,000';

/** The server stores WebVTT unread, and players ignore what they cannot read. It checks SubRip itself. */
export async function checkTrackFile(file: File): Promise<TrackCheck> {
  const fault = faultOf(file);
  if (fault !== undefined) return { fault };
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    return { fault: 'The file can’t be read. Choose it again.' };
  }
  const text = decode(bytes);
  if (typeof text !== 'string') return text;
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  return /^WEBVTT(?:[ \t]|$)/.test(lines[0] ?? '') ? readWebVtt(text, lines) : readSubRip(lines);
}

function faultOf({ name, size, type }: File): string | undefined {
  const [, kind] = /^(video|audio|image)\//.exec(type) ?? [];
  if (kind !== undefined)
    return `“${name}” is ${kind === 'video' ? 'a video' : `an ${kind} file`}. ${chooseAnother}`;
  if (size === 0) return `The file is empty. ${chooseAnother}`;
  if (size > maxTrackBytes) return `The file is larger than 8 MiB. ${chooseAnother}`;
  return undefined;
}

function decode(bytes: Uint8Array): string | { readonly fault: string } {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
    return { fault: `The file is in UTF-16. ${saveAsUtf8}` };
  if (bytes.includes(0)) return { fault: `This is not a text file. ${chooseAnother}` };
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  try {
    return utf8.decode(bytes);
  } catch {
    // A line feed byte is never part of another character.
    let line = 1;
    for (let begin = 0; begin < bytes.length; line += 1) {
      const end = bytes.indexOf(lineFeed, begin);
      const next = end === -1 ? bytes.length : end + 1;
      try {
        utf8.decode(bytes.subarray(begin, next));
      } catch {
        break;
      }
      begin = next;
    }
    return { fault: `Line ${line} is not in UTF-8. ${saveAsUtf8}` };
  }
}

function readWebVtt(text: string, lines: readonly string[]): TrackCheck {
  for (const [index, line] of lines.entries()) {
    if (!line.includes('-->')) continue;
    const times = webVttTimes.exec(line);
    if (times === null) return expected(index, webVttExample, line);
    if (secondsOf(times[2]) <= secondsOf(times[1])) return endsTooSoon(index);
    // An identifier may precede the times.
    const isFirst = index < 2 || lines[index - 1] === '' || lines[index - 2] === '' || index === 2;
    if (!isFirst) return expected(index, 'an empty line before the next cue', line);
  }
  const cues = parseVtt(text).length;
  if (cues === 0) return { fault: `Nothing in this file can be shown: there are no ${webVttExample}.` };
  return { cues, wasSubRip: false };
}

function readSubRip(lines: readonly string[]): TrackCheck {
  let expects: 'number' | 'times' | 'text' = 'number';
  let cues = 0;
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    const times = subRipTimes.exec(line);
    if (expects === 'text') {
      if (times !== null) return expected(index, 'an empty line before the next cue', line);
      if (line === '') expects = 'number';
    } else if (times !== null) {
      if (secondsOf(times[2]) < secondsOf(times[1])) return endsTooSoon(index);
      expects = 'text';
      cues += 1;
    } else if (expects === 'times') return expected(index, subRipExample, line);
    else if (/^\d{1,10}$/.test(line)) expects = 'times';
    else if (line !== '') return expected(index, `WEBVTT, a cue number or ${subRipExample}`, line);
  }
  if (cues === 0 || expects === 'times') return expected(lines.length - 1, subRipExample, undefined);
  return { cues, wasSubRip: true };
}

function expected(index: number, what: string, found: string | undefined): TrackCheck {
  const quoted = found === undefined ? 'the end of the file' : `“${found.trim().slice(0, maxQuotedChars)}”`;
  return { fault: `Line ${index + 1}: expected ${what}, found ${quoted}.` };
}

function endsTooSoon(index: number): TrackCheck {
  return { fault: `Line ${index + 1}: the cue does not end after it begins.` };
}

function secondsOf(time = ''): number {
  return time
    .replace(',', '.')
    .split(':')
    .reduce((sum, part) => sum * 60 + Number(part), 0);
}
