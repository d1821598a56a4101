import * as z from 'zod';

/** Providers put a code into the query, of at most some kilobytes. */
const maxQueryLength = 8_192;

export const signInMethodsSchema = z
  .object({
    oidc: z
      .object({ name: z.string() })
      .optional()
      .describe('The OpenID Connect provider. Absent if the server has none.'),
    passwordReset: z
      .boolean()
      .describe('True if the server sends links for new passwords by email (`POST /auth/password-resets`).'),
    signedIn: z.boolean().describe('True if the request has the cookie of a session (`GET /auth/session`).'),
  })
  .meta({
    id: 'SignInMethods',
    examples: [{ oidc: { name: 'Google' }, passwordReset: true, signedIn: false }],
  });

export const oidcRequestSchema = z
  .object({
    url: z.string().describe('The page of the provider. Open it in the same browser, within 10 minutes.'),
  })
  .meta({
    id: 'OidcRequest',
    examples: [{ url: 'https://login.example.org/authorize?client_id=millrace&response_type=code' }],
  });

export const oidcSignInSchema = z
  .strictObject({
    query: z
      .string()
      .max(maxQueryLength)
      .describe('The query of the redirect address, as the provider sent the browser there.'),
    invitationToken: z
      .string()
      .max(100)
      .optional()
      .describe(
        'The last part of the link of an invitation, which is accepted. The provider must have verified its email address.',
      ),
  })
  .meta({ examples: [{ query: 'code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj' }] });

export const identitySchema = z
  .object({
    linked: z.boolean(),
    linkedAt: z.iso.datetime({ offset: true }).optional().describe('Absent unless it is linked.'),
  })
  .meta({ id: 'Identity', examples: [{ linked: true, linkedAt: '2026-03-04T05:06:07+00:00' }] });
