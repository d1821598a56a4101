import { isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** A candidate of the host type. */
export interface IceCandidate {
  readonly foundation: string;
  readonly transport: 'udp' | 'tcp';
  readonly priority: number;
  readonly address: string;
  readonly port: number;
}

/** Browsers try each of them. */
const maxAddresses = 12;
const COMPONENT_RTP = 1;
/** Type and local preferences. RFC 8445, 5.1.2; RFC 6544, 4.2. */
const UDP_TYPE = 126;
const TCP_TYPE = 90;
const TCP_PASSIVE = 4;

/** Addresses of this machine, local ones last, so that publishers on the same machine reach it too. */
export function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap(each => each ?? []);
  const usable = all.filter(({ address }) => !/^fe80:/i.test(address));
  return [...usable.filter(each => !each.internal), ...usable.filter(each => each.internal)].map(
    ({ address }) => address,
  );
}

/** Lists host candidates; the first address is preferred. */
export function hostCandidates(
  addresses: readonly string[],
  port: number,
  acceptsIpv6: boolean,
): IceCandidate[] {
  const usable = [...new Set(addresses)].filter(each => isIP(each) !== 0 && (acceptsIpv6 || !isIPv6(each)));
  return usable.slice(0, maxAddresses).flatMap((address, index) => [
    {
      foundation: `u${index}`,
      transport: 'udp' as const,
      priority: priorityOf(UDP_TYPE, 0xffff - index),
      address,
      port,
    },
    {
      foundation: `t${index}`,
      transport: 'tcp' as const,
      priority: priorityOf(TCP_TYPE, (TCP_PASSIVE << 13) | (0x1fff - index)),
      address,
      port,
    },
  ]);
}

function priorityOf(type: number, local: number): number {
  return type * 2 ** 24 + local * 2 ** 8 + (256 - COMPONENT_RTP);
}
