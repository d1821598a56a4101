import type { FileSlice } from '../../shared/files/file-slice.ts';

export interface PartLocation {
  /** Number of the file from 1, for the whole broadcast. */
  readonly file: number;
  readonly offset: number;
}

/** Ends the claim of a part; without a location, the part was not written. */
export type PartStored = (location: PartLocation | undefined) => void;

interface StoredMedia {
  readonly sequence: number;
  readonly body: readonly Buffer[];
  readonly bytes: number;
  readonly durationSeconds: number;
}

/** Keeps a rendition's media on disk. Methods neither wait nor throw: media that cannot be written is dropped. */
export interface PartStore {
  write(media: StoredMedia, onStored: (location: PartLocation) => void): void;
  cancelWrite(sequence: number): void;
  /** A file is removed when it is complete and every use of it was released. */
  retain(file: number): void;
  release(file: number): void;
  finish(): void;
  slice(location: PartLocation, bytes: number): FileSlice;
}

/** Files that others write, and the window reads. */
export interface SharedFiles {
  /** Undefined when the file cannot be linked. */
  link(path: string): Promise<number | undefined>;
  /** Nothing more is written. */
  complete(file: number): void;
}

export interface BroadcastStorage {
  readonly sharedFiles: SharedFiles;
  /** 0 keeps only what the live window needs. */
  readonly rewindSeconds: number;
  /** False: the media cannot be rewound after the broadcast. */
  readonly isKeptAfterEnd: boolean;
  store(rendition: string): PartStore;
  remove(): void;
}

export type OpenStorage = (broadcast: {
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly isKeptAfterEnd: boolean;
  /** Claim of a broadcast that this server may have had before. */
  readonly claim?: number | undefined;
}) => BroadcastStorage;
