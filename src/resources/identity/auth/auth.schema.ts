import * as z from 'zod';

export const apiKeyRequestSchema = z
  .strictObject({ apiKey: z.string().describe('An API key.') })
  .meta({ examples: [{ apiKey: 'k3yForTheFarm' }] });

export const refreshRequestSchema = z
  .strictObject({ refreshToken: z.string().describe('The newest refresh token.') })
  .meta({ examples: [{ refreshToken: 'rt.5a2e88d0c4' }] });

export const tokensSchema = z
  .object({
    token_type: z.literal('Bearer'),
    expires_in: z.int().describe('Seconds until the access token expires.'),
    access_token: z.string(),
    refresh_token: z.string().describe('Works once.'),
  })
  .meta({
    id: 'AccessToken',
    examples: [
      {
        token_type: 'Bearer',
        expires_in: 3600,
        access_token: 'at.7f0c1b6e9d',
        refresh_token: 'rt.5a2e88d0c4',
      },
    ],
  });
