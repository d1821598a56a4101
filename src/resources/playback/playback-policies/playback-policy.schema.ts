import * as z from 'zod';
import {
  countryPattern,
  domainPattern,
  maxPolicyCountries,
  maxPolicyDomainChars,
  maxPolicyDomains,
} from '../../../shared/playback-policy.ts';

const domains = z
  .array(
    z
      .string()
      .max(255)
      .regex(domainPattern, {
        error: ({ input }) =>
          `"${String(input).slice(0, 80)}" should be a host name without scheme and port, such as "*.example.com".`,
      })
      .toLowerCase(),
  )
  .max(maxPolicyDomains)
  .refine(list => list.join('').length <= maxPolicyDomainChars, {
    message: `These domains have more than ${maxPolicyDomainChars} characters in total.`,
  });
const countries = z
  .array(z.string().regex(countryPattern, 'This value should be an ISO 3166-1 code, such as "DE".'))
  .max(maxPolicyCountries);

const domainsText =
  'Sites with the player: `example.com`, or `*.example.com` for all its subdomains. Empty allows all.';
const noReferrerText = 'Whether requests that name no site may play, such as those of native apps.';
const allowedText = 'ISO 3166-1 codes, such as `DE`. Empty allows all.';
const blockedText = 'Countries that may not play.';

const policySchema = z.strictObject({
  allowedDomains: domains.default([]).describe(domainsText),
  allowNoReferrer: z.boolean().default(true).describe(noReferrerText),
  allowedCountries: countries.default([]).describe(allowedText),
  blockedCountries: countries.default([]).describe(blockedText),
});

const shownSchema = z
  .object({
    allowedDomains: z.array(z.string()).describe(domainsText),
    allowNoReferrer: z.boolean().describe(noReferrerText),
    allowedCountries: z.array(z.string()).describe(allowedText),
    blockedCountries: z.array(z.string()).describe(blockedText),
  })
  .meta({
    id: 'PlaybackPolicy',
    examples: [
      {
        allowedDomains: ['example.com', '*.example.com'],
        allowNoReferrer: true,
        allowedCountries: [],
        blockedCountries: [],
      },
    ],
  });

export const ownPolicySchema = policySchema
  .nullish()
  .describe(
    'Who may play, by site and country. Replaces the whole policy; null uses that of `/account/playback-policy`.',
  );

export const shownPolicySchema = shownSchema
  .optional()
  .describe('Who may play. Absent if it has no policy of its own.');

export const projectPolicyChangesSchema = z
  .strictObject({
    playbackPolicy: policySchema.nullish().describe('Replaces the whole policy; null allows everybody.'),
  })
  .meta({ examples: [{ playbackPolicy: { allowedDomains: ['example.com', '*.example.com'] } }] });

export const projectPolicySchema = z
  .object({ playbackPolicy: shownSchema.nullable().describe('Null: everybody may play.') })
  .meta({ id: 'ProjectPlaybackPolicy', examples: [{ playbackPolicy: null }] });
