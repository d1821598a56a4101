import * as z from 'zod';
import { failurePolicies, hookErrorCodes, hookKinds } from '../../../events/hooks/hook.ts';
import { maxHookTimeoutSeconds } from '../../../shared/limits/resource-limits.ts';
import { hookUrl } from '../webhooks/webhooks.schema.ts';

const defaultTimeoutSeconds = 5;

const onFailure = z.enum(failurePolicies);
const subjectId = z.string().optional();

export const hookSettingsSchema = z
  .strictObject({
    url: hookUrl,
    timeoutSeconds: z
      .int()
      .min(1)
      .max(maxHookTimeoutSeconds)
      .default(defaultTimeoutSeconds)
      .describe('Limits name resolution, connection and response together.'),
    onFailure: onFailure
      .default('refuse')
      .describe(
        'Applies when the hook does not decide: no response in time, a redirect, or a status of 500 and above.',
      ),
  })
  .meta({ examples: [{ url: 'https://hooks.example.net/publish', timeoutSeconds: 3 }] });

export type HookSettings = z.output<typeof hookSettingsSchema>;

const exampleResult = {
  attemptedAt: '2026-03-04T05:06:07+00:00',
  durationMs: 12,
  result: 'refused' as const,
  test: false,
  liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
  remoteAddress: '198.51.100.7',
  statusCode: 403,
  response: '{"message":"Your plan has ended."}',
};

export const hookResultSchema = z
  .object({
    attemptedAt: z.iso.datetime({ offset: true }),
    durationMs: z.int().describe('Milliseconds that the publisher or viewer waited.'),
    result: z.enum(['allowed', 'refused']),
    test: z.boolean().describe('`true` for a test: no publisher or viewer waited for it.'),
    liveStreamId: subjectId.describe('Absent for a video.'),
    videoId: subjectId.describe('Only for a play hook and a video.'),
    remoteAddress: z.string().describe('IP address of the publisher or viewer.'),
    statusCode: z.int().optional().describe('HTTP status of the response; absent without a response.'),
    error: z
      .string()
      .optional()
      .describe(
        'The failure, if `onFailure` decided instead of the hook, or the hook chose an unknown live stream; absent otherwise.',
      ),
    errorCode: z
      .enum(hookErrorCodes)
      .optional()
      .describe('The failure as a stable code. Absent without `error`.'),
    response: z.string().optional().describe('The first 1,024 characters of the response.'),
  })
  .meta({ id: 'HookResult', examples: [exampleResult] });

export type HookResultView = z.input<typeof hookResultSchema>;

const exampleHook = {
  hookId: 'hook_9Pf3kRt7Zv1Ym5Hc8Qj2Ns',
  hook: 'publish' as const,
  url: 'https://hooks.example.net/publish',
  timeoutSeconds: 5,
  onFailure: 'refuse' as const,
  signatureSecret: 'sig_sec_6Jd2mWx8Tq4Lb1Rn7Gz5Fk',
  createdAt: '2026-03-04T05:06:07+00:00',
  results: [exampleResult],
};

export const hookSchema = z
  .object({
    hookId: z.string(),
    hook: z.enum(hookKinds),
    url: z.string(),
    timeoutSeconds: z.int(),
    onFailure,
    signatureSecret: z.string().describe('Secret: the signing key, including its prefix.'),
    createdAt: z.iso.datetime({ offset: true }),
    results: z.array(hookResultSchema).describe('The latest responses, newest first, at most 20.'),
  })
  .meta({ id: 'Hook', examples: [exampleHook] });

export type HookView = z.input<typeof hookSchema>;

export const hooksSchema = z
  .object({
    publish: hookSchema.nullable().describe('Null: everyone with a stream key may publish.'),
    play: hookSchema.nullable().describe('Null: no hook decides who may play.'),
  })
  .meta({ id: 'Hooks', examples: [{ publish: exampleHook, play: null }] });

export type HooksView = z.input<typeof hooksSchema>;
