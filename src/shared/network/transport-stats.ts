/** Packets of a connection over UDP since it began, as the receiver sees it. */
export interface TransportStats {
  /** Undefined until measured. */
  readonly roundTripMs: number | undefined;
  readonly packetsReceived: number;
  /** Missing when first noticed. */
  readonly packetsLost: number;
  /** Lost packets that arrived in time after all. */
  readonly packetsRecovered: number;
}
