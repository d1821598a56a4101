import { attachmentHeader } from '../../../../http/responses/content-disposition.ts';
import { fileLinkQuery } from '../../../../http/routing/file-link.ts';
import { projectResource } from '../../../../http/routing/project-resource.ts';
import { defineRoute, type FileAnswer, type Route } from '../../../../http/routing/route.ts';
import { AppError, systemCodeOf } from '../../../../shared/errors.ts';
import type { MediaFiles } from '../../../../storage/media-files.ts';
import type { MediaStorage } from '../../../../storage/media-storage.ts';
import { streamStored } from '../../../../storage/stream-stored.ts';
import type { Video } from '../video.ts';
import type { VideosService } from '../videos.service.ts';
import { sniffedBytes, sniffSourceType, sourceContentTypes } from './source-type.ts';

export function sourceFileRoutes(videos: VideosService, files: MediaFiles): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/videos/{videoId}/source',
      summary: 'Download the original file of a video',
      description:
        'The file as it was uploaded, fetched or recorded. A download can be continued with `Range` and `If-Range`.',
      ...projectResource('Videos', ['videoId', 'Id of the video.'], (projectId, videoId) =>
        videos.find(projectId, videoId),
      ),
      query: fileLinkQuery,
      success: {
        status: 200,
        description: 'The file.',
        headers: { 'Content-Disposition': 'Names the file after the title of the video.' },
        fileTypes: sourceContentTypes,
      },
      handle: ({ found }) => sourceFileOf(found, files),
    }),
  ];
}

async function sourceFileOf({ videoId, title }: Video, files: MediaFiles): Promise<FileAnswer> {
  const { storage } = files;
  const path = files.source(videoId);
  const stored = await storage.find(path);
  if (stored === undefined) throw noSource();
  const { contentType, extension } = sniffSourceType(await readStart(storage, path));
  const suffix = `.${extension}`;
  const name = title.toLowerCase().endsWith(suffix) ? title.slice(0, -suffix.length) : title;
  return {
    contentType,
    bytes: stored.bytes,
    etag: stored.etag,
    contentDisposition: attachmentHeader(name, extension),
    open: range => streamStored(storage, path, range, noSource),
  };
}

async function readStart(storage: MediaStorage, path: string): Promise<Buffer> {
  const start = Buffer.alloc(sniffedBytes);
  try {
    const file = await storage.open(path);
    try {
      const { bytesRead } = await file.read(start, 0, sniffedBytes, 0);
      return start.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw systemCodeOf(cause) === 'ENOENT' ? noSource(cause) : cause;
  }
}

function noSource(cause?: unknown): AppError {
  const detail =
    'This video has no original file yet. Upload one, or wait until the upload, import or recording is complete.';
  return new AppError('resource-not-found', undefined, { details: { name: 'videoId', detail }, cause });
}
