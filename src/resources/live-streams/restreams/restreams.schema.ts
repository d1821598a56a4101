import { z } from 'zod';

const reasons = [
  '`name-not-found`, `not-public` (an address of this server or its networks), `connection-refused`, `unreachable`, `timed-out`, `tls`,',
  '`refused` (it does not take the stream), `closed`, `stalled`, `failed`, `codec`, `sandbox-limit`.',
].join(' ');

const example = {
  name: 'Mirror',
  serverUrl: 'rtmp://mirror.example.net/app',
  state: 'live' as const,
  since: '2026-03-04T05:06:07+00:00',
  bitrateBitsPerSecond: 2_512_000,
  droppedFrames: 0,
  retries: 0,
};

/** A destination of a live stream as the API shows it. */
export const restreamSchema = z
  .object({
    name: z.string().describe('What you call it.'),
    serverUrl: z.string().describe('Where it is, without what may be secret in it.'),
    state: z
      .enum(['idle', 'connecting', 'live', 'retrying', 'stopped'])
      .describe(
        '`idle`: nothing is broadcast. `connecting`: it has not taken the stream yet. `retrying`: after a failure, until it takes the ' +
          'stream again. `stopped`: it gets no more of this broadcast.',
      ),
    since: z.iso.datetime({ offset: true }).optional().describe('Since when it is in this state.'),
    reason: z.string().optional().describe(`Why it is \`retrying\` or \`stopped\`: ${reasons}`),
    lastError: z
      .string()
      .optional()
      .describe('The last failure of this broadcast, for a person. It may be over.'),
    bitrateBitsPerSecond: z.int().optional().describe('What it took over the last five seconds.'),
    droppedFrames: z.int().optional().describe('Frames of picture that it was too slow for.'),
    retries: z.int().optional().describe('How often it was connected to anew after a failure.'),
  })
  .meta({
    id: 'Restream',
    examples: [example],
  });

/** All destinations of a live stream: at most five, so they are not paged. */
export const restreamListSchema = z
  .object({ data: z.array(restreamSchema) })
  .meta({ id: 'RestreamList', examples: [{ data: [example] }] });

/** A destination as it is shown. */
export type RestreamView = z.input<typeof restreamSchema>;
