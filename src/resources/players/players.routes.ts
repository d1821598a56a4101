import { imageBody } from '../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import {
  playerChangesSchema,
  playerCreationSchema,
  playerListSchema,
  playerSchema,
  playersQuerySchema,
} from './players.schema.ts';
import { logoImage, type PlayersService } from './players.service.ts';

/** The routes below `/players`. */
export function playerRoutes(players: PlayersService): Route[] {
  const tag = 'Player themes';
  const one = {
    tag,
    auth: 'key',
    params: { playerId: 'Id of the player theme.' },
    find: ({ params, caller }: { params: { playerId: string }; caller: Caller }) =>
      players.find(caller.projectId, params.playerId),
  } as const;
  const shown = { description: 'The player theme.', schema: playerSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/players',
      tag,
      summary: 'List player themes',
      auth: 'key',
      query: playersQuerySchema,
      success: { status: 200, description: 'A page of player themes.', schema: playerListSchema },
      handle: ({ caller, query, path, queryText }) => {
        const { views, total } = players.list(caller.projectId, sortOf(query, 'createdAt'), query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/players',
      tag,
      summary: 'Create a player theme',
      description: 'Colours and behaviour of the player page, for the videos and live streams that name it.',
      auth: 'key',
      body: jsonBody(playerCreationSchema),
      success: { status: 201, ...shown },
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
      path: '/players/{playerId}',
      summary: 'Change a player theme',
      description: 'What is not sent stays. Viewers see it within seconds, or with their next visit.',
      ...one,
      body: jsonBody(playerChangesSchema),
      success: { status: 200, ...shown },
      handle: ({ found, body }) => players.change(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/players/{playerId}',
      summary: 'Delete a player theme',
      description: 'Videos and live streams that name it have no theme from then on.',
      ...one,
      success: { status: 204, description: 'It is gone.' },
      handle: ({ found }) => players.remove(found),
    }),
    defineRoute({
      method: 'POST',
      path: '/players/{playerId}/logo',
      summary: 'Upload a logo',
      description: 'Takes the place of any other, with its link.',
      ...one,
      body: {
        ...imageBody(logoImage, 'A JPEG or PNG image'),
        fields: {
          link: 'Where a click on the logo leads. Any text is kept as it is, but only http and https addresses lead somewhere.',
        },
      },
      success: { status: 201, ...shown },
      handle: ({ found, body }) => players.setLogo(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/players/{playerId}/logo',
      summary: 'Delete the logo',
      description: 'And its link. Does nothing when there is none.',
      ...one,
      success: { status: 204, description: 'It is gone.' },
      handle: ({ found }) => players.removeLogo(found),
    }),
  ];
}
