/** Styles without a counterpart in WebVTT: `<font color="...">` and `{\an8}`. */
const droppedStyle = /<\/?font\b[^<>]{0,500}>|\{\\[^{}]{0,500}\}/gi;
const keptTag =
  /(<\/?[biu]>|<\/?(?:c|v|lang|ruby|rt)(?:[.\s][^<>]{0,500})?>|<(?:\d{2,6}:)?\d{2}:\d{2}\.\d{3}>)/i;
const style = /^<\/?[biu]>$/i;

/** Turns a line of SubRip, or of WebVTT, into cue text. **Source**: WebVTT, W3C, 4.2.2. */
export function cueText(line: string): string {
  const escaped = (text: string) =>
    text
      .replace(/&(?!(?:amp|lt|gt|nbsp|lrm|rlm);)/g, '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;');
  return line
    .replace(droppedStyle, '')
    .split(keptTag)
    .map((part, index) => (index % 2 === 0 ? escaped(part) : style.test(part) ? part.toLowerCase() : part))
    .join('');
}

/** Of a cue in WebVTT. */
export function formatCueTime(ms: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const time = `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}`;
  return `${time}.${String(ms % 1000).padStart(3, '0')}`;
}
