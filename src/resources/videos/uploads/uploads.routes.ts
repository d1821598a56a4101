import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { AddressOf } from '../../../http/listener/client-address.ts';
import type { Caller, UploadCaller } from '../../../http/routing/caller.ts';
import { defineRoute, fileBody, type Route } from '../../../http/routing/route.ts';
import { type ErrorCode, errorRegister } from '../../../shared/errors.ts';
import { type VideoView, videoSchema } from '../videos/videos.schema.ts';
import { hidePrivateTokens } from '../videos/watch-access.ts';
import { maxSourceBytes } from './content-range.ts';
import type { TokenUploader, UploadHeaders, UploadsService } from './uploads.service.ts';

const ranged =
  'A large file can come in chunks: `Content-Range: bytes <from>-<to>/<total>` or `part <n>/<total>`, from 5 MiB (the last may ' +
  'be smaller) to 200 MiB each, in any order and at once. The total can be `*` until it is known. A chunk may be sent again.';

const sourceErrors = [
  ...(Object.keys(errorRegister) as ErrorCode[]).filter(code =>
    /^video-(?:content-range|source)-/.test(code),
  ),
  ...(['storage-limit-reached', 'upload-limit-reached'] as const),
];

export function uploadRoutes(
  uploads: UploadsService<VideoView>,
  hasVideo: (projectId: string, videoId: string) => Promise<boolean>,
  addressOf: AddressOf,
): Route[] {
  const uploaderOf = (caller: UploadCaller, incoming: IncomingMessage): TokenUploader => ({
    ...caller,
    // The hash keeps addresses out of the database.
    client: hash(
      'sha256',
      JSON.stringify([caller.token, addressOf(incoming), incoming.headers['user-agent'] ?? '']),
      'base64url',
    ),
  });
  const common = {
    tag: 'Videos',
    rateClass: 'uploads',
    body: fileBody({
      maxBytes: maxSourceBytes,
      description: 'A video file or a chunk of one: the part with a file name, whatever its field is called.',
      contentTypes: ['application/octet-stream', 'video/*'],
    }),
    headers: {
      'Content-Range': {
        description: 'Which piece of the file this is; without it, the body has all of the file.',
        pattern: String.raw`bytes \d+-\d+/(?:\d+|\*)|part \d+/(?:\d+|\*)`,
        examples: {
          'by bytes': 'bytes 0-5242879/10546620',
          'by part': 'part 2/3',
          'length unknown': 'part 2/*',
        },
      },
    },
    success: { status: 201, description: 'The video.', schema: videoSchema },
    errors: sourceErrors,
  } as const;

  const one = {
    params: { videoId: 'Id of the video.' },
    find: async ({ params, caller }: { params: { videoId: string }; caller: Caller }) =>
      (await hasVideo(caller.projectId, params.videoId)) || undefined,
  };

  return [
    defineRoute({
      method: 'POST',
      scope: 'upload',
      path: '/videos/{videoId}/retry',
      tag: 'Videos',
      summary: 'Retry a failed video',
      action: 'video.retry',
      description:
        'Tries again what failed: joining the chunks of an upload, an import, the preparation of the file, or single qualities. ' +
        'It uses the file that the server has, and repeats nothing that is finished. A file that never arrived completely must be uploaded again.',
      auth: 'key',
      ...one,
      success: { status: 200, description: 'The video. Its status shows the progress.', schema: videoSchema },
      errors: ['nothing-to-retry'],
      handle: async ({ params, caller }) =>
        hidePrivateTokens(caller, await uploads.retry(caller.projectId, params.videoId), 'assets'),
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      path: '/videos/{videoId}/source',
      ...common,
      // The browser uploader sends it here too.
      body: { ...common.body, fields: { videoId: 'Ignored: the path names the video.' } },
      summary: 'Upload a video',
      action: 'video.upload',
      description: `Sends the file of a video that was created without a source. ${ranged}`,
      auth: 'key',
      ...one,
      admitFile: ({ params, caller, incoming }) =>
        uploads.admit(caller.projectId, params.videoId, headersOf(incoming)),
      handle: async ({ params, caller, body, incoming }) => {
        const view = await uploads.receive(caller.projectId, params.videoId, body, headersOf(incoming));
        return hidePrivateTokens(caller, view, 'assets');
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/upload',
      ...common,
      summary: 'Upload a video with an upload token',
      action: 'video.upload',
      description:
        "Creates a video with the file's name as its title; the field `videoId` names an existing one. An upload that was begun with " +
        'another token or with a key is not continued. Without `videoId`, a later chunk continues the newest unfinished upload of the ' +
        'same file that the same client (address and user agent) began with the same token. `assets` of a private video open only for ' +
        `the client whose upload created it. ${ranged}`,
      auth: 'upload-token',
      query: z.strictObject({ token: z.string().optional().describe('The upload token.') }),
      body: {
        ...common.body,
        fields: { videoId: 'Id of the video that the file is for; best sent before the file.' },
      },
      errors: [...sourceErrors, 'resource-not-found'],
      admitFile: ({ caller, incoming }) => uploads.admitDelegated(caller, headersOf(incoming)),
      handle: ({ caller, body, incoming }) =>
        uploads.receiveDelegated(uploaderOf(caller, incoming), body, headersOf(incoming)),
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
