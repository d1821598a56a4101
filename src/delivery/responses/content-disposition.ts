/** File systems take names of 255 bytes. */
const maxNameBytes = 200;

/**
 * **Source**: RFC 6266, Use of the Content-Disposition Header Field in HTTP, 4; RFC 8187, 3.2
 *
 * The header that has a file saved under a name made of a title, which may be any text: what no file system takes is left out.
 *
 * @param extension without its dot
 */
export function attachmentHeader(title: string, extension: string): string {
  const name = `${fileNameOf(title)}.${extension}`;
  const plain = name.replace(/[^\x20-\x7e]|[%"\\]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

function fileNameOf(title: string): string {
  const name = title
    .toWellFormed()
    // Control characters, marks that turn the direction of writing, and what means something to a file system.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s.]+/, '');
  // Cut between characters: what stands for a half of one goes.
  const short = Buffer.from(name)
    .subarray(0, maxNameBytes)
    .toString()
    .replace(/\ufffd+$/, '')
    .trimEnd();
  return short === '' ? 'video' : short;
}
