import { formatBytes } from '../format/size.ts';
import type { ProjectEnvironment } from '../state/session.ts';
import { t } from '../texts/uploads.ts';

/** Continues after a reload, once its file is chosen again. */
export interface ResumableUpload extends ProjectEnvironment {
  readonly videoId: string;
  /** Hides it from other accounts in the same browser. */
  readonly accountId: string;
  readonly title: string;
  readonly fileName: string;
  readonly fileBytes: number;
  readonly lastModified: number;
  /** SHA-256 of the first MiB in hexadecimal. */
  readonly fingerprint?: string;
  readonly chunkBytes: number;
  readonly isOfExistingVideo?: boolean;
}

interface FileInfo {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
}

export const maxResumableUploads = 50;

export function parseResumableUploads(text: string | undefined): ResumableUpload[] {
  try {
    const entries: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(entries) ? entries.filter(isResumableUpload).slice(-maxResumableUploads) : [];
  } catch {
    return [];
  }
}

export function describeMismatch(
  remembered: ResumableUpload,
  file: FileInfo,
  fingerprint: string | undefined,
): string | undefined {
  const { name } = file;
  const wanted = { wanted: remembered.fileName, wantedSize: formatBytes(remembered.fileBytes) };
  if (file.size !== remembered.fileBytes) {
    return t('uploads.otherFile', { name, size: formatBytes(file.size), ...wanted });
  }
  if (fingerprint !== undefined && remembered.fingerprint !== undefined) {
    return fingerprint === remembered.fingerprint
      ? undefined
      : t('uploads.otherContent', { name, ...wanted });
  }
  if (name !== remembered.fileName) return t('uploads.otherName', { name, ...wanted });
  if (file.lastModified !== remembered.lastModified) return t('uploads.changedSince', { name });
  return undefined;
}

function isResumableUpload(entry: unknown): entry is ResumableUpload {
  if (typeof entry !== 'object' || entry === null) return false;
  const {
    videoId,
    accountId,
    environment,
    projectId,
    title,
    fileName,
    fileBytes,
    lastModified,
    fingerprint,
    chunkBytes,
    isOfExistingVideo,
  } = entry as Record<string, unknown>;
  return (
    [videoId, accountId, title, fileName].every(value => typeof value === 'string') &&
    [fileBytes, lastModified, chunkBytes].every(value => Number.isSafeInteger(value)) &&
    (environment === 'sandbox' || environment === 'production') &&
    [fingerprint, projectId].every(value => ['string', 'undefined'].includes(typeof value)) &&
    ['boolean', 'undefined'].includes(typeof isOfExistingVideo) &&
    (chunkBytes as number) > 0
  );
}
