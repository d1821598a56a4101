import { formatBytes } from '../format/size.ts';
import type { Environment } from '../state/session.ts';

/** An upload that can be gone on with after a reload, when its file is chosen again. */
export interface ResumableUpload {
  readonly videoId: string;
  /** Whose it is: another person in the same browser does not see it. */
  readonly accountId: string;
  readonly environment: Environment;
  readonly title: string;
  readonly fileName: string;
  readonly fileBytes: number;
  /** Milliseconds since 1970. */
  readonly lastModified: number;
  /** SHA-256 of the file's first MiB in hexadecimal, where the browser could tell it. */
  readonly fingerprint?: string;
  /** Size of the chunks that it is sent in. */
  readonly chunkBytes: number;
}

/** Of a file what tells it from others. */
export interface FileInfo {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
}

/** So many are kept; the oldest go first. */
export const maxResumableUploads = 50;

/** Reads what was kept; what is not as it should be is left out. */
export function parseResumableUploads(text: string | undefined): ResumableUpload[] {
  try {
    const entries: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(entries) ? entries.filter(isResumableUpload).slice(-maxResumableUploads) : [];
  } catch {
    return [];
  }
}

/** Why a file is not the one of which a part was sent; undefined when it is. */
export function describeMismatch(
  remembered: ResumableUpload,
  file: FileInfo,
  fingerprint: string | undefined,
): string | undefined {
  const wanted = `“${remembered.fileName}” (${formatBytes(remembered.fileBytes)})`;
  if (file.size !== remembered.fileBytes) {
    return `“${file.name}” (${formatBytes(file.size)}) is another file. Choose ${wanted}.`;
  }
  if (fingerprint !== undefined && remembered.fingerprint !== undefined) {
    if (fingerprint === remembered.fingerprint) return undefined;
    return `“${file.name}” has the same size, but is another file. Choose ${wanted}.`;
  }
  if (file.name !== remembered.fileName) return `“${file.name}” is another file. Choose ${wanted}.`;
  if (file.lastModified !== remembered.lastModified)
    return `“${file.name}” was changed since the upload began.`;
  return undefined;
}

function isResumableUpload(entry: unknown): entry is ResumableUpload {
  if (typeof entry !== 'object' || entry === null) return false;
  const {
    videoId,
    accountId,
    environment,
    title,
    fileName,
    fileBytes,
    lastModified,
    fingerprint,
    chunkBytes,
  } = entry as Record<string, unknown>;
  return (
    [videoId, accountId, title, fileName].every(value => typeof value === 'string') &&
    [fileBytes, lastModified, chunkBytes].every(value => Number.isSafeInteger(value)) &&
    (environment === 'sandbox' || environment === 'production') &&
    ['string', 'undefined'].includes(typeof fingerprint) &&
    (chunkBytes as number) > 0
  );
}
