import * as z from 'zod';
import { restreamRenditions } from '../live-stream.ts';

const reasons = [
  '`name-not-found`, `not-public` (an unknown name, or an address of this server or its networks), `connection-refused`, `unreachable`, `timed-out`, `tls`,',
  '`refused` (it does not accept the stream), `closed`, `stalled`, `failed`, `codec`, `sandbox-limit`.',
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

const restreamSchema = z
  .object({
    name: z.string().describe('Your name for the destination.'),
    serverUrl: z.string().describe('Its URL, without parts that may be secret.'),
    rendition: z
      .string()
      .optional()
      .describe('The rendition that is sent: the source while the chosen one does not exist.'),
    state: z
      .enum(['idle', 'connecting', 'live', 'retrying', 'stopped', 'disabled'])
      .describe(
        '`idle`: there is no broadcast. `connecting`: it has not accepted the stream yet. `retrying`: after a failure, until it accepts the ' +
          'stream again. `stopped`: it receives no more of this broadcast. `disabled`: it receives nothing until it is enabled.',
      ),
    since: z.iso.datetime({ offset: true }).optional().describe('Start of this state.'),
    reason: z.string().optional().describe(`Reason for \`retrying\` or \`stopped\`: ${reasons}`),
    lastError: z
      .string()
      .optional()
      .describe('The last failure of this broadcast, as a sentence. It may be over.'),
    bitrateBitsPerSecond: z.int().optional().describe('Mean of the last five seconds.'),
    droppedFrames: z.int().optional().describe('Video frames dropped because it was too slow.'),
    retries: z.int().optional().describe('Reconnections after a failure.'),
  })
  .meta({
    id: 'Restream',
    examples: [example],
  });

/** The list of restreams: at most five destinations, so they are not paged. */
export const restreamListSchema = z
  .object({
    data: z.array(restreamSchema),
    renditions: z
      .array(z.enum(restreamRenditions))
      .describe(
        'Renditions that a destination of this live stream can get: `source`, and with a ladder the lower ones, as far as the source is larger.',
      ),
  })
  .meta({ id: 'RestreamList', examples: [{ data: [example], renditions: ['source'] }] });

export type RestreamView = z.input<typeof restreamSchema>;
