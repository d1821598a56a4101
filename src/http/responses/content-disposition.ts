/** File systems accept names of 255 bytes. */
const maxNameBytes = 200;

/** **Source**: RFC 6266, 4; RFC 8187, 3.2. @param extension without its dot */
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
    // Control characters, direction marks, and characters with a meaning for file systems.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd/\\:*?"<>|]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[\s.]+/, '');
  // Drops the replacement character of a truncated one.
  const short = Buffer.from(name)
    .subarray(0, maxNameBytes)
    .toString()
    .replace(/\ufffd+$/, '')
    .trimEnd();
  return short === '' ? 'video' : short;
}
