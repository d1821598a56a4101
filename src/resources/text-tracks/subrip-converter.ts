import { cueText, formatCueTime } from '../../shared/text/cue-text.ts';

/** Such as `expected a cue number, found "abc"`. */
interface LineProblem {
  readonly problem: string;
}

const cueNumber = /^\d{1,10}$/;
const cueTimes =
  /^(\d{1,3}):(\d{1,2}):(\d{1,2})[,.](\d{1,3})[ \t]*-->[ \t]*(\d{1,3}):(\d{1,2}):(\d{1,2})[,.](\d{1,3})(?:[ \t].*)?$/;
const timesExample = 'the times of a cue (00:00:01,000 --> 00:00:04,000)';
const quotedChars = 40;
const maxLineChars = 10_000;

/**
 * Converts SubRip (`.srt`) to WebVTT, line by line.
 * **Source**: WebVTT: The Web Video Text Tracks Format, W3C, 4.1 (file structure) and 4.2.2 (cue text).
 * SubRip has no specification: the converter accepts what FFmpeg's demuxer (`libavformat/srtdec.c`) accepts,
 * except for text outside of cues.
 */
export class SubRipConverter {
  #expects: 'number' | 'times' | 'text' = 'number';
  /** Written before the first text. Cues without a duration are left out, because players ignore them. */
  #times = '';
  #isShown = false;
  #cues = 0;

  /** @param text without its line feed */
  convert(text: string): string | LineProblem {
    if (text.length > maxLineChars) return { problem: `is longer than ${maxLineChars} characters` };
    const line = text.trim();
    const times = cueTimes.exec(line);
    if (this.#expects === 'text') {
      return times === null ? this.#text(line) : expected('an empty line before the next cue', line);
    }
    if (times !== null) return this.#begin(times);
    if (this.#expects === 'times') return expected(timesExample, line);
    if (line === '') return '';
    if (!cueNumber.test(line)) return expected(`WEBVTT, a cue number or ${timesExample}`, line);
    this.#expects = 'times';
    return '';
  }

  end(): LineProblem | undefined {
    if (this.#expects === 'times') return expected(timesExample, undefined);
    return this.#cues === 0 ? expected('a cue number', undefined) : undefined;
  }

  #begin(times: RegExpExecArray): string | LineProblem {
    const startMs = msOf(times.slice(1, 5));
    const endMs = msOf(times.slice(5, 9));
    if (startMs === undefined || endMs === undefined)
      return { problem: 'has more than 59 minutes or seconds' };
    if (endMs < startMs) return { problem: 'has a cue that ends before it begins' };
    this.#expects = 'text';
    this.#cues += 1;
    this.#isShown = endMs > startMs;
    this.#times = `\n${formatCueTime(startMs)} --> ${formatCueTime(endMs)}\n`;
    return '';
  }

  #text(line: string): string {
    if (line === '') {
      this.#expects = 'number';
      return '';
    }
    if (!this.#isShown) return '';
    const times = this.#times;
    this.#times = '';
    return `${times}${cueText(line)}\n`;
  }
}

function expected(what: string, found: string | undefined): LineProblem {
  const quoted = found === undefined ? 'the end of the file' : JSON.stringify(found.slice(0, quotedChars));
  return { problem: `expected ${what}, found ${quoted}` };
}

function msOf([hours, minutes, seconds, ms]: readonly string[]): number | undefined {
  if (Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms);
}
