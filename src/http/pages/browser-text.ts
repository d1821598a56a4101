import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';

const compress = promisify(gzip);

/** `etag` is in quotes. */
interface BrowserText {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

export interface BrowserFile {
  readonly text: BrowserText;
  readonly contentType: string;
}

export async function browserText(content: string | Buffer): Promise<BrowserText> {
  const plain = Buffer.from(content);
  const compressed = await compress(plain, { level: constants.Z_BEST_COMPRESSION });
  return { plain, gzip: compressed, etag: etagOf(plain) };
}

export function etagOf(content: Buffer): string {
  return `"${createHash('sha256').update(content).digest('hex').slice(0, 12)}"`;
}

/** Replaces every `{{name}}` once: a value that looks like a placeholder is not expanded. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
