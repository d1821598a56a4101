import type { FileSlice } from './files/file-slice.ts';
import type { CompressedText } from './text/rendered-text.ts';

/** Bytes in memory, shared by all viewers and never written to, or bytes of a file. */
export type BodyPart = Buffer | FileSlice;

/** A body that is sent part by part. */
export interface ResponseBody {
  readonly parts: readonly BodyPart[];
  /** Sum of the lengths of `parts`. */
  readonly bytes: number;
  readonly contentType: string;
  /** A quoted, strong entity tag. */
  readonly etag: string;
}

/** An init section, a segment or a part. */
export interface MediaResponse extends ResponseBody {
  /** Time for which the URL keeps naming these bytes. */
  readonly lifetimeSeconds: number;
}

/** A media playlist. */
export interface PlaylistResponse {
  readonly status: 200;
  readonly text: CompressedText;
  readonly targetDurationSeconds: number;
  /** The playlist will not change any more, as one with EXT-X-ENDLIST. */
  readonly isComplete: boolean;
  /** The request blocked until the position in its URL, so the response may be cached longer than a plain reload. */
  readonly hasWaited?: boolean;
}

/** A request for a live playlist that cannot be met. `reason`: one short sentence for a person. */
export interface PlaylistRefusal {
  readonly status: 400 | 404 | 503;
  readonly reason: string;
}
