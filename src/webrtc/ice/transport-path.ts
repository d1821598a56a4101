/** The way to one address of a client: a UDP address, or a TCP connection. */
export interface TransportPath {
  readonly protocol: 'udp' | 'tcp';
  /** The IP address, without the prefix of IPv4 addresses on a dual-stack socket. */
  readonly address: string;
  readonly port: number;
  /** Packets are dropped, or soon will be. */
  readonly isCongested: boolean;
  /** Drops the packet where the path is congested or gone. @param packet or its parts */
  send(packet: Buffer | readonly Buffer[]): void;
  close(): void;
}
