import type { Socket } from 'node:net';
import type { DatagramPath } from '../../shared/network/datagram-path.ts';
import {
  RestreamConnection,
  type RestreamConnectionEvents,
  type RestreamOutput,
} from './restream-connection.ts';
import type { MediaFormat } from './restream-format.ts';
import type { RestreamTarget } from './restream-target.ts';
import { SrtRestreamConnection } from './srt-restream-connection.ts';

interface OutputOptions {
  readonly target: RestreamTarget;
  readonly streamKey: string;
  /** Format at the time of connecting. */
  readonly format: MediaFormat;
  readonly events: RestreamConnectionEvents;
}

export function openOutput(dialed: Socket | DatagramPath, options: OutputOptions): RestreamOutput {
  const { target } = options;
  return target.protocol === 'srt'
    ? new SrtRestreamConnection({ ...options, target, path: dialed as DatagramPath })
    : new RestreamConnection({ ...options, target, socket: dialed as Socket });
}
