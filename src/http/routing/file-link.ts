import * as z from 'zod';
import type { PeerRequest } from '../listener/client-address.ts';

const environments = ['sandbox', 'production'] as const;

/** Query of routes that answer files: links cannot send headers. */
export const fileLinkQuery = z.strictObject({
  environment: z
    .enum(environments)
    .optional()
    .describe('In place of the header `Millrace-Environment`, for links on pages of this server.'),
  project: z
    .string()
    .max(100)
    .optional()
    .describe('In place of the header `Millrace-Project`, for links on pages of this server.'),
});

/** Turns the query of a link into the headers that scripts send. Sessions still require a page of this server. */
export function fileLinkRequest(request: PeerRequest, queryText: string): PeerRequest {
  const query = new URLSearchParams(queryText);
  const environment = query.get('environment');
  if (environment === null) return request;
  const project = query.get('project');
  const { headers, socket } = request;
  const named = {
    'millrace-environment': environment,
    ...(project === null ? {} : { 'millrace-project': project }),
  };
  return { headers: { ...named, ...headers }, socket };
}
