/** Everything that is checked, in the order in which people read it. */
export const checkTitles = {
  settings: 'Settings',
  server: 'Server',
  'data-folder': 'Data folder',
  ports: 'Ports of this machine',
  'disk-space': 'Disk space',
  'disk-speed': 'Disk speed',
  'open-files': 'Open files',
  clock: 'Clock',
  database: 'Database',
  bucket: 'Bucket',
  ffmpeg: 'ffmpeg',
  encoders: 'Encoders',
  hardware: 'Hardware encoder',
  isolation: 'Media isolation',
  certificate: 'Certificate',
  latency: 'Latency of viewers',
  name: 'Host name',
  http: 'HTTP',
  http2: 'HTTP/2',
  proxy: 'Proxy',
  query: 'Query of addresses',
  range: 'Byte ranges',
  buffering: 'Buffering',
  websocket: 'WebSocket',
  rtmp: 'RTMP',
  rtmps: 'RTMPS',
  srt: 'SRT',
  'webrtc-udp': 'WebRTC over UDP',
  'webrtc-tcp': 'WebRTC over TCP',
} as const;

export type CheckName = keyof typeof checkTitles;

export const findingStates = ['ok', 'warning', 'failed', 'skipped'] as const;

export interface Finding {
  readonly check: CheckName;
  /** `skipped` could not be checked here. */
  readonly state: (typeof findingStates)[number];
  /** Sentence for people. */
  readonly text: string;
  /** Consequence of a warning or failure. */
  readonly why?: string | undefined;
  /** Command or step that mends it. */
  readonly mend?: string | undefined;
  /** Measurements, as whole numbers. A support archive has these, and none of the texts. */
  readonly facts?: Readonly<Record<string, number | boolean>> | undefined;
}

type Details = Pick<Finding, 'why' | 'mend' | 'facts'>;

export function ok(check: CheckName, text: string, facts?: Finding['facts']): Finding {
  return { check, state: 'ok', text, facts: whole(facts) };
}

export function warning(check: CheckName, text: string, details: Details): Finding {
  return { check, state: 'warning', text, ...details, facts: whole(details.facts) };
}

export function failed(check: CheckName, text: string, details: Details): Finding {
  return { check, state: 'failed', text, ...details, facts: whole(details.facts) };
}

function whole(facts: Finding['facts']): Finding['facts'] {
  if (facts === undefined) return undefined;
  const entries = Object.entries(facts).map(([name, value]) => [
    name,
    typeof value === 'number' ? Math.round(value) : value,
  ]);
  return Object.fromEntries(entries) as Finding['facts'];
}

export function skipped(check: CheckName, text: string, mend?: string): Finding {
  return { check, state: 'skipped', text, mend };
}
