import { json, notFound, pageType } from '../../http/openapi/path-answers.ts';
import type { DescribedPath } from '../../http/openapi/path-items.ts';

/** Text for the OpenAPI document. */
export type PathDescription = Omit<DescribedPath, 'path' | 'tag'>;

export const range = { Range: 'The requested bytes, such as `bytes=0-1023`.' };
export const imageTypes = ['image/jpeg', 'image/png', 'image/webp'];
export const sessionDescription = {
  query: { avh: 'The session of a private video or live stream.' },
  headers: { 'X-Token-Session': 'The same as `avh`.' },
};
export const pageSession = {
  query: {
    token: 'The private token of a private video or live stream, or a JSON Web Token that you sign.',
    ...sessionDescription.query,
  },
  headers: sessionDescription.headers,
};

/** @param resource such as `video` */
export function playerPage(resource: string, description: string): PathDescription {
  return {
    summary: `Player page of a ${resource}`,
    description,
    ...pageSession,
    answers: {
      200: { description: 'The page.', types: [pageType] },
      404: { description: `A page that says that the ${resource} does not exist.`, types: [pageType] },
    },
  };
}

export function embedding(resource: string): PathDescription {
  return {
    summary: `oEmbed of a public ${resource}`,
    query: { maxwidth: 'Maximum width in pixels.', maxheight: 'Maximum height in pixels.' },
    answers: json('The oEmbed response.', {
      version: '1.0',
      type: 'video',
      title: 'Harbour at dawn',
      width: 640,
      height: 360,
    }),
  };
}

export function privateSession(resource: string): PathDescription {
  return {
    summary: `Session of a private ${resource}`,
    description: 'Uses up the token and returns the session to send as `avh`. Valid for 24 hours.',
    ...sessionDescription,
    answers: json('The session.', { session_token: '4b1f3c9e2a7d' }),
  };
}

export function cacheAccess(resource: string): PathDescription {
  return {
    summary: `Access to a private ${resource}, for caches`,
    description: `Lets a shared cache check each viewer before it serves the media of a private ${resource}. Uses up no token. Looks at the URL, and at \`Origin\`, \`Referer\` and the address of the viewer where sites or countries are restricted.`,
    query: { avh: 'The session, from the URLs in the playlist.' },
    answers: {
      204: {
        description: 'The session or the signed token is valid.',
        headers: { 'Cache-Control': 'How long the cache can rely on it.' },
      },
      404: notFound,
    },
  };
}
