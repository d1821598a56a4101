import { formatCueTime } from '../../shared/web-vtt/cue-text.ts';
import { cueTimeMs } from '../../shared/web-vtt/cue-times.ts';
import { type CueRange, shiftCueTimes } from './shift-cues.ts';

const signature = /^\ufeff?WEBVTT/;
/** WebVTT, W3C, 4.2.2: when the rest of a line of karaoke begins. */
const innerTime = /<(?:(\d{2,6}):)?(\d{2}):(\d{2})\.(\d{3})>/g;

/**
 * Cuts a WebVTT file. Cues that reach over an edge end there. Keeps styles, regions, comments, identifiers and settings.
 * @returns false without any cue
 */
export async function cutWebVtt(
  lines: AsyncIterable<string>,
  range: CueRange,
  write: (text: string) => Promise<void>,
): Promise<boolean> {
  let hasCues = false;
  let block: string[] = [];
  const end = async () => {
    if (block.length === 0) return;
    const cut = cutBlock(block, range);
    block = [];
    if (cut === undefined) return;
    hasCues ||= cut.isCue;
    await write(`${cut.lines.join('\n')}\n\n`);
  };
  for await (const line of lines) {
    if (line.trim() === '') await end();
    else block.push(line);
    // Cues may follow the first line at once.
    if (block.length === 2 && signature.test(block[0]!) && line.includes('-->')) {
      block.pop();
      await end();
      block.push(line);
    }
  }
  await end();
  return hasCues;
}

/** Undefined when nothing of its cue is in the range. */
function cutBlock(
  block: readonly string[],
  range: CueRange,
): { readonly lines: readonly string[]; readonly isCue: boolean } | undefined {
  const at = block.findIndex(line => line.includes('-->'));
  if (at === -1) return { lines: block, isCue: false };
  const shifted = shiftCueTimes(block[at]!, range);
  if (shifted === undefined) return undefined;
  const { times, settings, beginMs, endMs } = shifted;
  const textOf = (line: string) =>
    line.replace(innerTime, (_, ...found: string[]) => {
      const ms = cueTimeMs(found.slice(0, 4)) - range.startMs;
      return `<${formatCueTime(Math.min(endMs, Math.max(beginMs, ms)))}>`;
    });
  const text = block.slice(at + 1).map(textOf);
  return { lines: [...block.slice(0, at), `${times}${settings}`, ...text], isCue: true };
}
