/** Styles without a counterpart in WebVTT: `<font color="...">` and `{\an8}`. */
const droppedStyle = /<\/?font\b[^<>]{0,500}>|\{\\[^{}]{0,500}\}/gi;
const keptTag =
  /(<\/?[biu]>|<\/?(?:c|v|lang|ruby|rt)(?:[.\s][^<>]{0,500})?>|<(?:\d{2,6}:)?\d{2}:\d{2}\.\d{3}>)/i;
const style = /^<\/?[biu]>$/i;
/** Tags, timestamps and references that players know. */
const markup =
  /(<\/?(?:c|i|b|u|v|lang|ruby|rt)(?:[.\s][^<>]{0,500})?>|<(?:\d{2,4}:)?\d{2}:\d{2}\.\d{3}>|&(?:amp|lt|gt|lrm|rlm|nbsp|#\d{1,7}|#x[\da-f]{1,6});)/i;

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

/** Escapes plain text. */
export function escapeCueText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Removes tags and resolves the references that {@link escapeCueText} writes. */
export function plainCueText(source: string): string {
  return unescapeCueText(source.replace(/<[^<>]{0,500}>/g, '').replaceAll('&nbsp;', ' '));
}

/** Shows `&` instead of `&amp;` where {@link encodeCueText} restores it, and the source otherwise. */
export function decodeCueText(source: string): string {
  const text = unescapeCueText(source);
  return encodeCueText(text) === source ? text : source;
}

/** Keeps tags, escapes everything else, and leaves out empty lines, which would end the cue. */
export function encodeCueText(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .filter(line => line.trim() !== '')
    .map(line =>
      line
        .split(markup)
        .map((part, index) => (index % 2 === 0 ? escapeCueText(part) : part))
        .join(''),
    )
    .join('\n');
}

function unescapeCueText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
