/** A frame of video or a packet of audio, shared by all viewers. */
export interface MediaFrame {
  readonly kind: 'audio' | 'video';
  /** Name of the rendition, for video. */
  readonly rendition: string;
  readonly isKeyframe: boolean;
  readonly timestamp: number;
  readonly ntpMs: number;
  payloads(): readonly Buffer[];
}

export interface FrameReceiver {
  frame(frame: MediaFrame): void;
  /** Nothing follows. @param reason for people */
  ended(reason: string): void;
}

interface WhepRendition {
  readonly name: string;
  readonly bitsPerSecond: number;
}

/** A broadcast that can be delivered over WebRTC. */
export interface WhepBroadcast {
  /** Why browsers cannot play it. */
  readonly problem: string | undefined;
  readonly hasBegun: boolean;
  /** Renditions of which frames come, the best one first. */
  renditions(): readonly WhepRendition[];
  /** Returns the video of the best rendition from the last keyframe on. */
  recentVideo(): readonly MediaFrame[];
  add(receiver: FrameReceiver): void;
  remove(receiver: FrameReceiver): void;
}

export interface WhepSource {
  find(liveStreamId: string): WhepBroadcast | undefined;
}
