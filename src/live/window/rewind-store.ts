import type { FileSlice } from '../../shared/files/file-slice.ts';

/** A closed segment to keep on disk. */
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

/** Keeps the media of a rendition on disk. Its methods neither wait nor throw: media that cannot be written is not kept. */
export interface RewindStore {
  /** Calls `onKept` once the bytes can be fetched. */
  writeSegment(segment: RewindSegment, onKept: (location: SegmentLocation) => void): void;
  /** Calls `onKept` once the init section can be fetched. */
  writeInit(number: number, body: Buffer, onKept: () => void): void;
  /** Cancels the write of a segment if it has not started. */
  cancelWrite(sequence: number): void;
  /** Removes segments before `sequence` and init sections before `init`. */
  removeBefore(sequence: number, init: number): void;
  /** Closes the open file: nothing more will be written. */
  finish(): void;
  segment(location: SegmentLocation, bytes: number): FileSlice;
  init(number: number, bytes: number): FileSlice;
}

/** The media of a broadcast on disk. */
export interface BroadcastRewind {
  readonly seconds: number;
  /** False removes everything when the broadcast ends. */
  readonly isKeptAfterEnd: boolean;
  /** Creates the store of a rendition. */
  store(rendition: string): RewindStore;
  /** Removes everything, once. */
  remove(): void;
}

export type OpenRewind = (broadcast: {
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly isKeptAfterEnd: boolean;
}) => BroadcastRewind;
