import { imageBody } from '../../../http/bodies/uploaded-image.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { channelLogo } from './channel.ts';
import { channelChangesSchema, channelSchema } from './channels.schema.ts';
import type { ChannelsService } from './channels.service.ts';

export function channelRoutes(channels: ChannelsService): Route[] {
  const path = '/account/channel';
  const all = { tag: 'Channel', auth: 'key' } as const;
  const shown = { description: 'The channel.', schema: channelSchema } as const;
  return [
    defineRoute({
      method: 'GET',
      path,
      ...all,
      summary: 'Get the channel',
      success: { status: 200, ...shown },
      handle: ({ caller }) => channels.view(caller.projectId),
    }),
    defineRoute({
      method: 'PATCH',
      path,
      scope: 'admin',
      ...all,
      summary: 'Change the channel',
      description:
        'The public page of the project. It lists the videos and live streams whose `listed` is true, as long as they are public and everybody may play them. Applies within a few seconds.',
      body: jsonBody(channelChangesSchema),
      success: { status: 200, ...shown },
      isAtomic: true,
      handle: ({ caller, body }) => channels.change(caller, body),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/logo`,
      scope: 'admin',
      ...all,
      summary: 'Upload the logo of the channel',
      description: 'Replaces the current logo. A square image looks best.',
      body: imageBody(channelLogo, 'A JPEG or PNG image'),
      success: { status: 201, ...shown },
      handle: ({ caller, body }) => channels.setLogo(caller.projectId, body),
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/logo`,
      scope: 'admin',
      ...all,
      summary: 'Delete the logo of the channel',
      description: 'Does nothing when there is none.',
      success: { status: 204, description: 'The channel has no logo.' },
      handle: ({ caller }) => channels.removeLogo(caller.projectId),
    }),
  ];
}
