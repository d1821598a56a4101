import { z } from 'zod';
import type { PeerRequest } from '../listener/client-address.ts';

const environments = ['sandbox', 'production'] as const;

/** Of routes that answer files: links cannot send headers. */
export const fileLinkQuery = z.strictObject({
  environment: z
    .enum(environments)
    .optional()
    .describe('In place of the header `Millrace-Environment`, for links on pages of this server.'),
});

/** Turns the query of a link into the headers that scripts send. Sessions still require a page of this server. */
export function fileLinkRequest(request: PeerRequest, queryText: string): PeerRequest {
  const environment = new URLSearchParams(queryText).get('environment');
  if (environment === null) return request;
  const { headers, socket } = request;
  return { headers: { 'millrace-environment': environment, ...headers }, socket };
}
