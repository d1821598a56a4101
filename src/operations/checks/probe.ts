import { createHash } from 'node:crypto';

/** Answer of `GET /health/probe`. */
export interface Probe {
  readonly product: 'millrace';
  readonly time: string;
  readonly address: string;
  readonly isSecure: boolean;
  readonly publicUrl: string;
  readonly ports: Readonly<Record<'rtmp' | 'rtmps' | 'srt' | 'webrtc', number | null>>;
}

export const probePath = '/health/probe';
export const streamParts = ['data: 1\n\n', 'data: 2\n\n'];
export const streamPauseMs = 1_000;

/** **Source**: RFC 6455, 4.2.2 */
const acceptGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export function acceptKeyOf(key: string): string {
  return createHash('sha1').update(`${key}${acceptGuid}`).digest('base64');
}

export function isProbe(value: unknown): value is Probe {
  const probe = value as Partial<Probe> | null;
  return (
    probe?.product === 'millrace' &&
    [probe.time, probe.address, probe.publicUrl].every(one => typeof one === 'string') &&
    Number.isFinite(Date.parse(String(probe.time))) &&
    typeof probe.isSecure === 'boolean' &&
    typeof probe.ports === 'object' &&
    probe.ports !== null &&
    Object.values(probe.ports).every(port => port === null || isPort(port))
  );
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 65_535;
}
