import type { FileSlice } from '../../shared/files/file-slice.ts';

export interface RewindSegment {
  readonly sequence: number;
  readonly body: readonly Buffer[];
  readonly bytes: number;
  readonly durationSeconds: number;
}

export interface SegmentLocation {
  /** From 1. */
  readonly chunk: number;
  readonly offset: number;
}

/** Keeps a rendition's media on disk. Methods neither wait nor throw: media that cannot be written is dropped. */
export interface RewindStore {
  writeSegment(segment: RewindSegment, onKept: (location: SegmentLocation) => void): void;
  writeInit(number: number, body: Buffer, onKept: () => void): void;
  cancelWrite(sequence: number): void;
  /** `sequence` and `init` are exclusive. */
  removeBefore(sequence: number, init: number): void;
  finish(): void;
  segment(location: SegmentLocation, bytes: number): FileSlice;
  init(number: number, bytes: number): FileSlice;
}

export interface BroadcastRewind {
  readonly seconds: number;
  /** False removes everything at the end. */
  readonly isKeptAfterEnd: boolean;
  store(rendition: string): RewindStore;
  remove(): void;
}

export type OpenRewind = (broadcast: {
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly isKeptAfterEnd: boolean;
}) => BroadcastRewind;
