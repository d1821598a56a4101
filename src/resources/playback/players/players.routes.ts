import { imageBody } from '../../../http/bodies/uploaded-image.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { projectResource } from '../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import {
  playerChangesSchema,
  playerCreationSchema,
  playerListSchema,
  playerSchema,
  playersQuerySchema,
} from './players.schema.ts';
import { logoImage, type PlayersService } from './players.service.ts';

export function playerRoutes(players: PlayersService): Route[] {
  const tag = 'Player themes';
  const all = { path: '/players', tag, auth: 'key' } as const;
  const one = projectResource(tag, ['playerId', 'Id of the player theme.'], (projectId, id) =>
    players.find(projectId, id),
  );
  const shown = { description: 'The player theme.', schema: playerSchema };

  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'List player themes',
      query: playersQuerySchema,
      success: { status: 200, description: 'A page of player themes.', schema: playerListSchema },
      handle: async request =>
        pageOf(
          request,
          await players.list(request.caller.projectId, sortOf(request.query, 'createdAt'), request.query),
        ),
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      ...all,
      summary: 'Create a player theme',
      description: 'Colors and behavior of the player page, for the videos and live streams that use it.',
      body: jsonBody(playerCreationSchema),
      success: { status: 201, ...shown },
      isAtomic: true,
      handle: ({ caller, body }) => players.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/players/{playerId}',
      summary: 'Get a player theme',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => players.view(found),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'upload',
      path: '/players/{playerId}',
      summary: 'Change a player theme',
      description:
        'Attributes that you do not send keep their values. Viewers see the change within seconds, or on their next visit.',
      ...one,
      body: jsonBody(playerChangesSchema),
      success: { status: 200, ...shown },
      isAtomic: true,
      handle: ({ found, body }) => players.change(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'upload',
      path: '/players/{playerId}',
      summary: 'Delete a player theme',
      description: 'Videos and live streams that use it then get the default player.',
      ...one,
      success: { status: 204, description: 'The player theme is deleted.' },
      handle: ({ found }) => players.remove(found),
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      path: '/players/{playerId}/logo',
      summary: 'Upload a logo',
      description: 'Replaces the current logo and its link.',
      ...one,
      body: {
        ...imageBody(logoImage, 'A JPEG or PNG image'),
        fields: {
          link: 'The link behind the logo. Any text is stored, but only http and https URLs can be clicked.',
        },
      },
      success: { status: 201, ...shown },
      handle: ({ found, body }) => players.setLogo(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'upload',
      path: '/players/{playerId}/logo',
      summary: 'Delete the logo',
      description: 'Deletes the link with it. Does nothing when there is no logo.',
      ...one,
      success: { status: 204, description: 'The logo is deleted.' },
      handle: ({ found }) => players.removeLogo(found),
    }),
  ];
}
