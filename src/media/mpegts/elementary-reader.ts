/** Times at 90 kHz, on the demuxer's clock. */
export interface PesTimes {
  readonly dtsTicks: number;
  readonly ptsTicks: number;
}

export interface PesPacket {
  /** Times of the first frame that begins in this packet. */
  readonly times: PesTimes | undefined;
  /** Data of the packet, valid during the call only. Begins with the bytes that were retained. */
  readonly data: Buffer;
  /** NAL units of the data; none in audio. */
  readonly units: readonly Buffer[];
}

export interface FollowingPacket {
  readonly times: PesTimes | undefined;
  /** True when the data begins inside of a frame, or may do so. */
  readonly isContinuation: boolean;
}

export interface ElementarySample extends PesTimes {
  readonly data: Buffer;
  readonly isKeyframe: boolean;
  /** Configuration record, AudioSpecificConfig or OpusHead; undefined when it is that of the sample before. */
  readonly config: Buffer | undefined;
}

/** Turns the PES packets of one elementary stream into samples. */
export interface ElementaryReader {
  /**
   * Returns the number of bytes at the end of the data to put in front of the next packet.
   *
   * @param following the packet after this one, as far as it is known
   */
  push(packet: PesPacket, following: FollowingPacket | undefined): number;
  /** True for units of one frame, where none has continued in another packet. */
  isFrame?(units: readonly Buffer[]): boolean;
  /** Data is missing before the next packet, and none is retained. */
  reset(): void;
}
