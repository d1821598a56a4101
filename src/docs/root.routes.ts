import { z } from 'zod';
import { defineRoute, type Route } from '../http/routing/route.ts';

/** What {@link rootRoutes} tells of this server. */
export interface RootOptions {
  readonly version: string;
  /** Base of every address, without a slash at its end; asked when needed. */
  readonly publicUrl: () => string;
}

const rootSchema = z
  .object({
    name: z.literal('Millrace'),
    version: z.string().describe('Version of the server.'),
    dashboard: z.url().describe('Where people sign in.'),
    documentation: z.url().describe('The guide.'),
    openapi: z.url().describe('The OpenAPI document.'),
  })
  .meta({
    id: 'Root',
    examples: [
      {
        name: 'Millrace',
        version: '0.1.0',
        dashboard: 'http://localhost:8080/dashboard',
        documentation: 'http://localhost:8080/docs',
        openapi: 'http://localhost:8080/openapi.json',
      },
    ],
  });

/** `/`: what this is, for programs. Browsers are sent on before they get here. */
export function rootRoutes({ version, publicUrl }: RootOptions): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/',
      tag: 'Documentation',
      summary: 'What this server is, and where to go on',
      description: 'Browsers, which ask for `text/html`, are sent to the dashboard.',
      auth: 'none',
      success: { status: 200, description: 'The server.', schema: rootSchema },
      handle: () => ({
        name: 'Millrace' as const,
        version,
        dashboard: `${publicUrl()}/dashboard`,
        documentation: `${publicUrl()}/docs`,
        openapi: `${publicUrl()}/openapi.json`,
      }),
    }),
  ];
}
