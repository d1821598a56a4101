export const maxTrackTitleChars = 100;

/** Makes a title of a media file safe for playlists and menus; undefined when nothing is left. */
export function trackTitle(text: string | undefined): string | undefined {
  const title = (text ?? '')
    .slice(0, 4 * maxTrackTitleChars)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .replaceAll('"', '”')
    .trim()
    .slice(0, maxTrackTitleChars)
    .trimEnd()
    .toWellFormed();
  return title === '' ? undefined : title;
}
