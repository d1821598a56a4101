import * as z from 'zod';
import { defineRoute, type Route } from '../http/routing/route.ts';

interface RootOptions {
  readonly version: string;
  readonly publicUrl: () => string;
}

const rootSchema = z
  .object({
    name: z.literal('Millrace'),
    version: z.string().describe('Version of the server.'),
    dashboard: z.url().describe('The dashboard.'),
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

/** Routes at the root for programs: browsers are redirected before this. */
export function rootRoutes({ version, publicUrl }: RootOptions): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/',
      tag: 'Documentation',
      summary: 'Get the server and its main URLs',
      description:
        'Browsers, which accept `text/html`, are redirected to the dashboard, or get the channel that `MILLRACE_FRONT_PAGE` names.',
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
