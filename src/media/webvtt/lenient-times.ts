import { type CueTimes, cueTime, cueTimeMs, parseCueTimes } from './cue-times.ts';

export interface LenientTimes extends CueTimes {
  /** Shown, although it stands behind the times, where players expect settings only. */
  readonly text: string;
  /** False for times that {@link parseCueTimes} reads. */
  readonly isOdd: boolean;
  /** True for hours and minutes with an arrow that sentences have, too. */
  readonly mayBeText: boolean;
}

const maxTimesChars = 200;
export const bracketedTime = `(?:[[({]\\s*)?${cueTime}(?:\\s*[\\])}])?`;
const marks = '\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069';
const isMark = new RegExp(`[\\u3000${marks}]`);
const onlyMarks = new RegExp(`^[\\s${marks}]*$`);
const writtenArrow = /^(?:-{1,3} ?>|[\u2013\u2014]>|--&gt;)$/;
const arrow = '(-{1,3} ?>|[\u2013\u2014]>|--&gt;|={1,2}>|[\u2192\u27f6\u21d2\u2794\u279c\u27a1])';
const times = new RegExp(`^\\s*${bracketedTime}\\s*${arrow}\\s*${bracketedTime}(?![\\d.,:])`);

const value = '(?:-?\\d[\\d.,%]*|start|center|middle|end|left|right|rl|lr)(?!\\S)';
/** A setting of WebVTT or its drafts, also with a space before the value, or a coordinate of SubRip. */
const setting = new RegExp(
  `^\\s*(?:(?:vertical|line|position|size|align|region):(?:\\s+${value}|\\S*)|[XY][12]:\\d+(?!\\S)|[ADLST]:(?:${value}|vertical\\S*))`,
  'i',
);

/** Reads times as {@link parseCueTimes} does, and those in brackets, with other arrows, digits and punctuation. */
export function parseLenientTimes(line: string): LenientTimes | undefined {
  const found = times.exec(plainTimes(line));
  if (found === null) return undefined;
  const rest = line.slice(found[0].length);
  let text = rest;
  for (let next = setting.exec(text); next !== null; next = setting.exec(text))
    text = text.slice(next[0].length);
  if (onlyMarks.test(text)) text = '';
  const usual = parseCueTimes(line);
  return {
    startMs: cueTimeMs(found.slice(1, 5)),
    endMs: cueTimeMs(found.slice(6, 10)),
    settings: rest.slice(0, rest.length - text.length).replace(/: +/g, ':'),
    text: text.trim(),
    isWebVtt: usual?.isWebVtt === true && text === '',
    isOdd: usual === undefined,
    mayBeText: !writtenArrow.test(found[5]!) && found[4] === undefined,
  };
}

/** The start of a line with each full-width form, other digit, dash and direction mark replaced by one character. */
export function plainTimes(line: string): string {
  return line
    .slice(0, maxTimesChars)
    .replace(/[^ -~]/g, plainCharacter)
    .replace(/(?<![\d.,:;])(\d{1,3})[.;](\d\d)[.;](\d\d)(?!\d)/g, '$1:$2:$3')
    .replace(/(\d)[;'](\d{2,3})(?!\d)/g, '$1.$2');
}

function plainCharacter(character: string): string {
  const code = character.charCodeAt(0);
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
  if (/[\u0660-\u0669\u06f0-\u06f9]/.test(character)) return String(code & 0xf);
  if (isMark.test(character)) return ' ';
  if (/[\u2010-\u2012\u2212]/.test(character)) return '-';
  if (/[\u2236\u02d0\ua789\ufe13]/.test(character)) return ':';
  if (/[\u3002\u066b]/.test(character)) return '.';
  return /[\u3001\u060c]/.test(character) ? ',' : character;
}
