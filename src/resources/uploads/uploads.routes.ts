import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import type { Caller } from '../../http/caller.ts';
import { defineRoute, fileBody, type Route } from '../../http/route.ts';
import { type VideoView, videoSchema } from '../videos/videos.schema.ts';
import { sourceBytesBelow } from './content-range.ts';
import type { UploadHeaders, UploadsService } from './uploads.service.ts';

const ranged =
  'A large file can come in chunks: `Content-Range: bytes <from>-<to>/<total>` or `part <n>/<total>`, from 5 MiB (the last may ' +
  'be smaller) to 200 MiB each, in any order and at once. The total can be `*` until it is known. A chunk may be sent again.';

/** The routes that files of videos are sent to. */
export function uploadRoutes(
  uploads: UploadsService<VideoView>,
  hasVideo: (projectId: string, videoId: string) => boolean,
): Route[] {
  const common = {
    tag: 'Videos',
    rateClass: 'uploads',
    body: fileBody({
      bytesMax: sourceBytesBelow - 1,
      description: 'A video file or a chunk of one: the part with a file name, whatever its field is called.',
      contentTypes: ['application/octet-stream', 'video/*'],
    }),
    success: { status: 201, description: 'The video.', schema: videoSchema },
  } as const;

  return [
    defineRoute({
      method: 'POST',
      path: '/videos/{videoId}/source',
      ...common,
      summary: 'Upload a video',
      description: `Sends the file of a video that was created without a source. ${ranged}`,
      auth: 'key',
      params: { videoId: 'Id of the video.' },
      find: ({ params, caller }: { params: { videoId: string }; caller: Caller }) =>
        hasVideo(caller.projectId, params.videoId) || undefined,
      admitFile: ({ params, incoming }) => uploads.admit(params.videoId, headersOf(incoming)),
      handle: ({ params, caller, body, incoming }) =>
        uploads.receive(caller.projectId, params.videoId, body, headersOf(incoming)),
    }),
    defineRoute({
      method: 'POST',
      path: '/upload',
      ...common,
      summary: 'Upload a video with an upload token',
      description: `Makes a video with the file's name as its title; the field \`videoId\` names one that is there. ${ranged}`,
      auth: 'upload-token',
      query: z.strictObject({ token: z.string().optional().describe('The upload token.') }),
      errors: [404],
      admitFile: ({ caller, incoming }) => uploads.admitDelegated(caller, headersOf(incoming)),
      handle: ({ caller, body, incoming }) => uploads.receiveDelegated(caller, body, headersOf(incoming)),
    }),
  ];
}

function headersOf({ headers }: IncomingMessage): UploadHeaders {
  const length = headers['content-length'];
  return {
    contentRange: headers['content-range'],
    contentLength: length === undefined ? undefined : Number(length),
  };
}
