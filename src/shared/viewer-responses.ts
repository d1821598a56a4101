import type { FileSlice } from './files/file-slice.ts';
import type { CompressedText } from './text/rendered-text.ts';

/** Bytes in memory are shared by all viewers and never written to. */
export type BodyPart = Buffer | FileSlice;

export interface ResponseBody {
  readonly parts: readonly BodyPart[];
  readonly bytes: number;
  readonly contentType: string;
  /** Quoted, strong. */
  readonly etag: string;
}

export interface MediaResponse extends ResponseBody {
  /** Time for which the URL keeps naming these bytes. */
  readonly lifetimeSeconds: number;
}

export interface PlaylistResponse {
  readonly status: 200;
  readonly text: CompressedText;
  readonly targetDurationSeconds: number;
  /** Has EXT-X-ENDLIST. */
  readonly isComplete: boolean;
  /** A reload for what is the newest, or came later: its URL names its content, so it may be cached longer than a plain one. */
  readonly isBlockingReload?: boolean;
}

/** The members of `AbortSignal` that held requests need, which costs more than sending a part. */
export interface ViewerSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** `reason`: one short sentence for a person. */
export interface PlaylistRefusal {
  readonly status: 400 | 404 | 503;
  readonly reason: string;
}
