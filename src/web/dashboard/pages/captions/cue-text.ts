/** Tags and timestamps that players know. **Source**: WebVTT, W3C, 4.2.2, https://www.w3.org/TR/webvtt1/ */
const markup =
  /(<\/?(?:c|i|b|u|v|lang|ruby|rt)(?:[.\s][^<>]{0,500})?>|<(?:\d{2,4}:)?\d{2}:\d{2}\.\d{3}>|&(?:amp|lt|gt|lrm|rlm|nbsp|#\d{1,7}|#x[\da-f]{1,6});)/i;

/** Shows `&` instead of `&amp;` where `encodeCueText` restores it, and the source otherwise. */
export function decodeCueText(source: string): string {
  const text = source.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  return encodeCueText(text) === source ? text : source;
}

/** Keeps tags, escapes everything else, and leaves out empty lines, which would end the cue. */
export function encodeCueText(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .filter(line => line.trim() !== '')
    .map(line => line.split(markup).map(escapeOdd).join(''))
    .join('\n');
}

/** Even parts are between the tags. */
function escapeOdd(part: string, index: number): string {
  if (index % 2 === 1) return part;
  return part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
