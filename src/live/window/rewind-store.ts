import type { FileSlice } from '../../shared/files/file-slice.ts';

/** A closed segment that is to be kept on disk. */
export interface RewindSegment {
  readonly sequence: number;
  readonly body: readonly Buffer[];
  readonly bytes: number;
  readonly durationSeconds: number;
}

/** Where a segment is on the disk. */
export interface SegmentLocation {
  /** From 1. */
  readonly chunk: number;
  readonly offset: number;
}

/**
 * Keeps what leaves the memory of a rendition on disk. Nothing here waits or throws: what cannot be kept is not kept, and its caller
 * hears nothing of it.
 */
export interface RewindStore {
  /** `onKept`: called when the bytes can be fetched, unless they could not be written. */
  writeSegment(segment: RewindSegment, onKept: (place: SegmentLocation) => void): void;
  /** The same for an init section. */
  writeInit(number: number, body: Buffer, onKept: () => void): void;
  /** Its bytes are needed no more if they still wait to be written. */
  cancelWrite(sequence: number): void;
  /** No segment before `sequence` is asked for any more, and no init section before `init`. */
  removeBefore(sequence: number, init: number): void;
  /** Nothing more is to be kept: gives back what it takes to write. */
  finish(): void;
  segment(place: SegmentLocation, bytes: number): FileSlice;
  init(number: number, bytes: number): FileSlice;
}

/** What a broadcast needs to be rewound further than its memory reaches. */
export interface BroadcastRewind {
  /** How far back viewers can go. */
  readonly seconds: number;
  /** False: what was kept is removed when the broadcast ends. */
  readonly isKeptAfterEnd: boolean;
  /** A store for a rendition; once for each. */
  store(rendition: string): RewindStore;
  /** Removes everything that was kept of the broadcast. The second call does nothing. */
  remove(): void;
}

/** Makes it for a broadcast that begins. */
export type OpenRewind = (broadcast: {
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly isKeptAfterEnd: boolean;
}) => BroadcastRewind;
